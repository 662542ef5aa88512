package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

const key = "task:42"

var config = lease.Config{TTL: 2 * time.Second, Heartbeat: 400 * time.Millisecond, Retry: 150 * time.Millisecond}

// worker is one competitor, in a process of its own.
type worker struct {
	name, log string
	gate      gate

	mu  sync.Mutex
	out *json.Encoder
}

// work is the worker's main; its result is the exit code.
func work(name, dir string) int {
	w := &worker{name: name, log: filepath.Join(dir, "task.log"), out: json.NewEncoder(os.Stdout)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go w.listen(cancel)
	repository := lease.SQLiteRepository(filepath.Join(dir, "leases.db")).ProvideMerge(platform.Live)
	_, err := effect.Run(ctx, w.compete().Provide(repository))
	if err != nil && !errors.Is(err, context.Canceled) {
		w.say(message{What: malformed, Text: err.Error()})
		return 1
	}
	return 0
}

func (w *worker) say(m message) {
	m.Worker, m.PID = w.name, os.Getpid()
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.out.Encode(m)
}

func (w *worker) listen(end func()) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch lines.Text() {
		case cmdPause:
			w.gate.shut()
		case cmdResume:
			w.gate.open()
		}
	}
	end()
}

// compete takes the lease again and again.
func (w *worker) compete() effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		leases := do.Await(lease.MakeManager(config))
		for {
			do.Await(effect.Scoped(w.turn(leases)))
		}
	})
}

// turn holds the lease once, and works until a write is refused.
func (w *worker) turn(leases *lease.Manager) effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		l := do.Await(leases.Acquire(key).CatchTag(func(held *lease.Held) effect.Effect[*lease.Lease] {
			w.say(message{What: isHeld, Generation: held.Generation, Text: held.Error()})
			return leases.Acquire(key, lease.Wait())
		}))
		w.say(message{What: acquired, Generation: l.Token().Generation})
		for {
			do.Await(w.waitAtGate(l))
			if _, err := do.Await(effect.Result(l.RunFenced(w.write))).Get(); err != nil {
				w.say(message{What: refused, Generation: l.Token().Generation, Text: err.Error()})
				w.offerOldToken(do, l.Token())
				return
			}
			do.Await(effect.Sleep(100 * time.Millisecond))
		}
	})
}

// write is the fenced work.
func (w *worker) write(token lease.FencingToken) effect.Effect[effect.Unit] {
	return effect.Blocking(func(context.Context) (effect.Unit, error) {
		if err := appendToken(w.log, token); err != nil {
			return effect.Unit{}, err
		}
		w.say(message{What: wrote, Generation: token.Generation})
		return effect.Unit{}, nil
	})
}

// offerOldToken shows that the log itself would refuse the write, too, had it
// come past the fence.
func (w *worker) offerOldToken(do *effect.Do, token lease.FencingToken) {
	last := do.Try(lastToken(w.log))
	if _, err := lease.CheckFence(last, token).Get(); err != nil {
		w.say(message{What: refused, Generation: token.Generation, Text: err.Error()})
	}
}

func (w *worker) waitAtGate(l *lease.Lease) effect.Effect[effect.Unit] {
	return effect.Blocking(func(ctx context.Context) (effect.Unit, error) {
		opened, shut := w.gate.state()
		if !shut {
			return effect.Unit{}, nil
		}
		w.say(message{What: paused, Generation: l.Token().Generation})
		select {
		case <-opened:
		case <-ctx.Done():
		}
		return effect.Unit{}, nil
	})
}

// gate lets the worker through while it is open, as it is at first.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // nil: open
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
}

func (g *gate) state() (opened <-chan struct{}, shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened, g.opened != nil
}
