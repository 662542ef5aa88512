package effect_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// session is a class as a TypeScript program has it: plain fields, no mutex. Each method
// relies on nothing else happening between two of its waits, and answered on the asker
// having taken its answer before CompleteNow returns.
type session struct {
	wire    *wire
	state   string
	next    int
	pending map[int]*effect.Deferred[string]
	// outbox waits for the next flush, of which there is one at a time.
	outbox   []question
	flushing bool
	flusher  *effect.Fiber[effect.Unit]
	answered []string
	taken    int
}

type question struct {
	id   int
	text string
}

var errSessionClosed = errors.New("the session is closed")

func newSession(w *wire) *session {
	return &session{wire: w, state: "open", pending: map[int]*effect.Deferred[string]{}}
}

// ask sends text with the next flush and waits for the answer.
func (s *session) ask(text string) effect.Effect[string] {
	return effect.Gen(func(do *effect.Do) string {
		if s.state != "open" {
			do.Fail(errSessionClosed)
		}
		id := s.next
		s.next++
		answer := do.Await(effect.MakeDeferred[string]())
		s.pending[id] = answer
		s.outbox = append(s.outbox, question{id, text})
		if !s.flushing {
			s.flushing = true
			s.flusher = do.Await(effect.ForkDetach(s.flush()))
		}
		got := do.Await(answer.Await().OnInterrupt(func([]scope.FiberID) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { delete(s.pending, id) })
		}))
		s.taken++
		s.answered = append(s.answered, got)
		return got
	})
}

func (s *session) flush() effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		for len(s.outbox) > 0 {
			batch := s.outbox
			s.outbox = nil
			do.Await(s.wire.send(batch))
		}
		s.flushing = false
	})
}

// answer is what the wire calls with each answer, on the runtime.
func (s *session) answer(t *testing.T, id int, text string) {
	asker, ok := s.pending[id]
	if !ok {
		return // interrupted meanwhile
	}
	delete(s.pending, id)
	taken := s.taken
	asker.CompleteNow(effect.Succeed(text))
	if s.taken != taken+1 || s.answered[len(s.answered)-1] != text {
		t.Errorf("question %d had not taken its answer when CompleteNow returned", id)
	}
}

func (s *session) close() effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		s.state = "closed"
		if s.flushing {
			do.Await(s.flusher.Await())
		}
		for _, asker := range s.pending {
			do.Await(asker.Fail(errSessionClosed))
		}
		clear(s.pending)
	})
}

// wire is the other side: goroutines that answer whenever they are done.
type wire struct {
	rt       *scope.Serial
	answered func(id int, text string)
	all      sync.WaitGroup
}

func (w *wire) send(batch []question) effect.Effect[effect.Unit] {
	return effect.TryPromise(func(context.Context) (effect.Unit, error) {
		for _, q := range batch {
			w.all.Go(func() {
				answer := "re: " + q.text
				w.rt.Post(func() { w.answered(q.id, answer) })
			})
		}
		return effect.Unit{}, nil
	})
}

// A live session, ported line by line, gives the right answers each time: it is used by
// many goroutines at once, some of which give up, and closed in the end.
func TestLiveSession(t *testing.T) {
	const askers, each = 8, 5
	times := 1000
	if testing.Short() {
		times = 100
	}
	for range times {
		rt := scope.NewSerial()
		w := &wire{rt: rt}
		s := newSession(w)
		w.answered = func(id int, text string) { s.answer(t, id, text) }
		var all sync.WaitGroup
		var want []string
		for i := range askers {
			for j := range each {
				want = append(want, fmt.Sprintf("re: %d/%d", i, j))
			}
			all.Go(func() {
				exit := effect.RunExitOn(t.Context(), rt, effect.GenUnit(func(do *effect.Do) {
					for j := range each {
						text := fmt.Sprintf("%d/%d", i, j)
						if got := do.Await(s.ask(text)); got != "re: "+text {
							t.Errorf("asked %q, was answered %q", text, got)
						}
					}
				}))
				if exit.IsFailure() {
					t.Error(exit)
				}
			})
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				go cancel()
				_ = effect.RunExitOn(ctx, rt, s.ask("never mind"))
			})
		}
		all.Wait()
		exit := effect.RunExitOn(t.Context(), rt, s.close().AndThen(effect.Exit(s.ask("too late"))))
		last, _ := exit.Value()
		if !errors.Is(last.Err(), errSessionClosed) {
			t.Errorf("a closed session: %v", exit)
		}
		w.all.Wait()
		if err := rt.Close(t.Context()); err != nil {
			t.Error(err)
		}
		got := slices.DeleteFunc(slices.Clone(s.answered), func(a string) bool { return a == "re: never mind" })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(s.pending) != 0 || s.flushing || len(s.answered) != s.taken {
			t.Fatalf("answered %q, pending %d, flushing %v, %d taken", got, len(s.pending), s.flushing, s.taken)
		}
	}
}
