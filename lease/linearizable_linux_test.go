package lease_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// R1, L2, L5, L7, L10, L11, L18: what processes do to one key is linearizable, though
// some of them are killed (kill -9) in the middle. An operation that has no reply is
// open-ended: SQLite's recovery may bring out a write long after its writer's end.
func TestL18_LinearizableProcesses(t *testing.T) {
	onStores(t, func(t *testing.T, store, _ string) {
		for mode, repeat := range map[string]int{"swap": 20, "lease": 10} {
			t.Run(mode, func(t *testing.T) { recordProcesses(t, store, t.TempDir(), mode, repeat) })
		}
	})
}

func recordProcesses(t *testing.T, store, dir, mode string, repeat int) {
	const contenders = 3
	kills := rounds(6, 3)
	if raced {
		repeat /= 2
	}
	h := &history{}
	clients := 0
	begin := func() *recorded {
		p := &recorded{
			peer: spawn(t, quick(store, dir)), h: h, client: clients,
			calls: make(chan struct{}, 1), over: make(chan struct{}),
		}
		clients++
		p.Tell(command{Do: "history", Mode: mode, Client: p.client, Repeat: repeat})
		go p.listen()
		return p
	}
	var pool []*recorded
	for range contenders {
		pool = append(pool, begin())
	}
	for range kills {
		i := rand.IntN(contenders)
		p := pool[i]
		for range 1 + rand.IntN(8) { // what it has told of until now is no news
			select {
			case <-p.calls:
			case <-p.over:
			}
		}
		// The instant is random: within the operation, or soon after.
		<-time.After(time.Duration(rand.ExpFloat64() * float64(300*time.Microsecond)))
		killed := h.begin(contenders*100, monotonic(), step{Do: "kill", Client: p.client})
		p.Kill()
		h.finish(killed, monotonic(), step{Do: "kill", Client: p.client})
		<-p.over
		pool[i] = begin()
	}
	for _, p := range pool {
		<-p.over
	}
	for _, p := range pool {
		if p.failed != "" {
			t.Fatalf("client %d: %s", p.client, p.failed)
		}
	}
	h.check(t)
}

// recorded is a process whose operations are taken down.
type recorded struct {
	*peer
	h      *history
	client int
	calls  chan struct{} // has one when an operation has begun since
	over   chan struct{} // it is done, or its output has ended
	failed string        // why it is done; read when it is over
}

func (p *recorded) listen() {
	defer close(p.over)
	at := map[int]int{}
	for r := range p.Replies() {
		switch r.Do {
		case "call":
			at[r.Index] = p.h.begin(p.client, r.At, *r.Step)
			select {
			case p.calls <- struct{}{}:
			default:
			}
		case "end":
			p.h.finish(at[r.Index], r.At, *r.Step)
		case "history":
			p.failed = r.Text
			return
		}
	}
}

// piped takes down what this worker does, by telling its test.
type piped struct {
	w    *worker
	mu   sync.Mutex
	last int
}

// call is told before the operation begins, so that no effect is unheard of.
func (p *piped) call(s step) int {
	p.mu.Lock()
	p.last++
	index := p.last
	p.mu.Unlock()
	p.w.say(reply{Do: "call", Index: index, At: monotonic(), Step: &s})
	return index
}

func (p *piped) end(index int, s step) {
	p.w.say(reply{Do: "end", Index: index, At: monotonic(), Step: &s})
}

// history is a client of a history that its test takes down.
func (w *worker) history(c command) {
	r := stores[w.Store](w.Dir)
	if s, ok := r.(*lease.SQLite); ok {
		defer s.Close()
	}
	_, err := effect.Run(context.Background(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		rec := &piped{w: w}
		if c.Mode == "swap" {
			do.Check(swapping(do, rec, r, c.Client, c.Repeat))
		} else {
			do.Check(leasing(do, rec, r, platform.OS(), c.Client, c.Repeat))
		}
	})))
	w.say(answer("history", err))
}
