package lanes

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// reference is the lanes in the plainest words that say what they do.
type reference struct {
	maxConcurrent, maxQueued int
	closed                   bool
	queue                    []string
	running                  []referenceRun
}

type referenceRun struct {
	key     string
	pending bool
	stop    StopReason
}

func (r *reference) run(key string) *referenceRun {
	for i := range r.running {
		if r.running[i].key == key {
			return &r.running[i]
		}
	}
	return nil
}

func (r *reference) wake(key string) Outcome {
	run := r.run(key)
	switch {
	case r.closed:
		return refused
	case run != nil:
		run.pending = true
		return Coalesced
	case slices.Contains(r.queue, key):
		return Coalesced
	case len(r.running) < r.maxConcurrent:
		r.running = append(r.running, referenceRun{key: key})
		return Started
	case r.maxQueued < 0 || len(r.queue) < r.maxQueued:
		r.queue = append(r.queue, key)
		return Queued
	default:
		return refused
	}
}

func (r *reference) cancel(key string) {
	r.queue = slices.DeleteFunc(r.queue, func(k string) bool { return k == key })
	if run := r.run(key); run != nil {
		run.pending = false
		r.stop(run, StopCancel)
	}
}

func (r *reference) stop(run *referenceRun, reason StopReason) {
	if run.stop == notStopped {
		run.stop = reason
	}
}

func (r *reference) close() {
	r.closed = true
	r.queue = nil
	for i := range r.running {
		r.running[i].pending = false
		r.stop(&r.running[i], StopClose)
	}
}

func (r *reference) end(key string) {
	if r.run(key).pending {
		r.queue = append(r.queue, key)
	}
	r.running = slices.DeleteFunc(r.running, func(run referenceRun) bool { return run.key == key })
	if len(r.queue) > 0 {
		r.running = append(r.running, referenceRun{key: r.queue[0]})
		r.queue = r.queue[1:]
	}
}

func (r *reference) status() string {
	s := fmt.Sprintln(len(r.running), len(r.queue), r.closed)
	for _, run := range r.running {
		s += fmt.Sprintln(run.key, StateRunning, run.pending)
	}
	for _, key := range r.queue {
		s += fmt.Sprintln(key, StateQueued, true)
	}
	return s
}

func describe(st Status) string {
	s := fmt.Sprintln(st.Running, st.Queued, st.Closed)
	for _, l := range st.Lanes {
		s += fmt.Sprintln(l.Key, l.State, l.Pending)
	}
	return s
}

// TestN1_BoardIsTheReference compares the board with the reference over any
// sequence of events: N1, N2, N4, N8, N9 and N13 as far as they are decisions.
func TestN1_BoardIsTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := admission{maxConcurrent: rapid.IntRange(1, 3).Draw(t, "concurrent"), maxQueued: rapid.IntRange(-1, 3).Draw(t, "queued")}
		b := makeBoard(rules)
		ref := &reference{maxConcurrent: rules.maxConcurrent, maxQueued: rules.maxQueued}
		key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"})
		runningKey := func(t *rapid.T) string {
			if len(ref.running) == 0 {
				t.Skip("nothing runs")
			}
			return ref.running[rapid.IntRange(0, len(ref.running)-1).Draw(t, "running")].key
		}
		started := func(e *entry) { e.Value.run = &activation{key: e.Value.key} }
		t.Repeat(map[string]func(*rapid.T){
			"wake": func(t *rapid.T) {
				k := key.Draw(t, "key")
				want := ref.wake(k)
				got, e := b.wake(k)
				if got != want {
					t.Fatalf("wake %s: got %v, want %v", k, got, want)
				}
				if got == Started {
					started(e)
				}
			},
			"cancel": func(t *rapid.T) {
				k := key.Draw(t, "key")
				run := ref.run(k)
				owed := slices.Contains(ref.queue, k) || run != nil && run.pending
				fresh := run != nil && run.stop == notStopped
				ref.cancel(k)
				e, known := b.lanes[k]
				if !known {
					return
				}
				if dropped, first := b.halt(e, StopCancel); dropped != owed || first != fresh {
					t.Fatalf("cancel %s: got %v, %v; want %v, %v", k, dropped, first, owed, fresh)
				}
			},
			"expire": func(t *rapid.T) {
				k := runningKey(t)
				ref.stop(ref.run(k), StopTimeout)
				b.expire(b.lanes[k])
			},
			"end": func(t *rapid.T) {
				k := runningKey(t)
				ref.end(k)
				if e := b.end(b.lanes[k]); e != nil {
					started(e)
				}
			},
			"close": func(t *rapid.T) {
				if !rapid.Bool().Draw(t, "really") {
					t.Skip("not yet")
				}
				owed := len(ref.queue)
				fresh := 0
				for _, run := range ref.running {
					if run.pending {
						owed++
					}
					if run.stop == notStopped {
						fresh++
					}
				}
				ref.close()
				b.close(func(string) { owed-- }, func(*activation) { fresh-- })
				if owed != 0 || fresh != 0 {
					t.Fatalf("close: %d drops and %d stops are missing", owed, fresh)
				}
			},
			"": func(t *rapid.T) {
				if got, want := describe(b.status()), ref.status(); got != want {
					t.Fatalf("got\n%swant\n%s", got, want)
				}
				if b.queue.Len() > 0 && b.rules.slot() {
					t.Fatal("a slot is free while a lane waits")
				}
				if len(b.lanes) != b.queue.Len()+b.running.Len() {
					t.Fatal("an idle lane takes memory")
				}
				for _, run := range ref.running {
					if e := b.lanes[run.key]; e.Value.lane.stop != run.stop || e.Value.run == nil {
						t.Fatalf("%s: got %v, want %v", run.key, e.Value.lane.stop, run.stop)
					}
				}
			},
		})
	})
}

// TestN4_Fairness: with any pattern of wakes, between two starts of one key every
// key that was queued at the first has started, or left by Cancel.
func TestN4_Fairness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := makeBoard(admission{maxConcurrent: rapid.IntRange(1, 3).Draw(t, "concurrent"), maxQueued: -1})
		waited := map[string]map[string]bool{}
		var running []string
		starts := func(e *entry) {
			k := e.Value.key
			running = append(running, k)
			for other := range waited[k] {
				t.Fatalf("%s started twice while %s waited", k, other)
			}
			waited[k] = map[string]bool{}
			for q := b.queue.Front(); q != nil; q = q.Next() {
				waited[k][q.Value.key] = true
			}
			for _, others := range waited {
				delete(others, k)
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			k := string(rune('a' + rapid.IntRange(0, 7).Draw(t, "key")))
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				if e, known := b.lanes[k]; known {
					b.halt(e, StopCancel)
					for _, others := range waited {
						delete(others, k)
					}
				}
			case 1, 2, 3, 4:
				if len(running) > 0 {
					i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
					ends := running[i]
					running = slices.Delete(running, i, i+1)
					if e := b.end(b.lanes[ends]); e != nil {
						starts(e)
					}
				}
			default:
				if o, e := b.wake(k); o == Started {
					starts(e)
				}
			}
		}
	})
}

// TestN13_MapShrinks: the map of 10^5 lanes does not stay behind.
func TestN13_MapShrinks(t *testing.T) {
	const n = 100_000
	b := makeBoard(admission{maxConcurrent: 1, maxQueued: -1})
	for i := range n {
		b.wake(fmt.Sprint(i))
	}
	for i := range n - 10 {
		b.end(b.lanes[fmt.Sprint(i)])
	}
	if b.peak > 256 || len(b.lanes) != 10 {
		t.Errorf("peak %d, lanes %d", b.peak, len(b.lanes))
	}
	if s := b.status(); s.Running != 1 || s.Queued != 9 || s.Lanes[0].Key != fmt.Sprint(n-10) {
		t.Errorf("got %+v", s)
	}
}
