package proptest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/lanes"
	"pgregory.net/rapid"
)

// TestN1_N2_N4_N7_N8_N9_N10_N13_N15_Runner plays calls of a lanes.Runner against the
// model that Lanes is held against, on the virtual time of a synctest bubble: after each
// call the Status, what OnExit heard, and what still waits must be the model's.
func TestN1_N2_N4_N7_N8_N9_N10_N13_N15_Runner(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := runnerPlay{
			limit:   rapid.IntRange(1, 3).Draw(rt, "MaxConcurrent"),
			queue:   rapid.IntRange(-1, 3).Draw(rt, "MaxQueued (-1: none)"),
			timeout: time.Duration(rapid.IntRange(0, 9).Draw(rt, "TurnTimeout in ms")) * 1010 * time.Microsecond,
			plan:    rapid.SliceOfN(rapid.Custom(drawRunnerStep), 1, 40).Draw(rt, "steps"),
		}
		synctest.Test(t, func(t *testing.T) { p.run() })
		if len(p.violations) > 0 {
			rt.Fatalf("%s\n%s", strings.Join(p.log, "\n"), p.violations[0])
		}
	})
}

type runnerStep struct{ kind, key string }

func drawRunnerStep(t *rapid.T) runnerStep {
	kinds := []string{"wake", "wake", "wake", "wake", "return", "return", "fail", "panic", "Goexit", "cancel", "pass", "drain", "drain in time", "close"}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	if (kind == "close" || kind[0] == 'd') && rapid.IntRange(0, 3).Draw(t, "ends on 3") < 3 {
		kind = "wake"
	}
	return runnerStep{kind, rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")}
}

type runnerPlay struct {
	limit, queue int
	timeout      time.Duration
	plan         []runnerStep

	runner *lanes.Runner
	model  lanesModel
	// now is the model's present, began when its running activations began.
	now   time.Time
	began map[string]time.Time
	want  []string // what OnExit should have heard in this step
	// waiting are the calls that the model has waiting, by what they return then.
	waiting []*runnerCall
	// drains: a drain has begun; cut: it was cut short.
	drains, cut bool

	mu    sync.Mutex
	heard []string
	turns map[string]chan string // what the key's activation is to do

	log, violations []string
}

type runnerCall struct {
	what     string
	done     chan error
	deadline time.Time
}

func (p *runnerPlay) violate(format string, args ...any) {
	p.violations = append(p.violations, fmt.Sprintf(format, args...))
}

func (p *runnerPlay) run() {
	p.model = lanesModel{limit: p.limit, room: p.queue, pending: map[string]bool{}}
	p.began, p.turns = map[string]time.Time{}, map[string]chan string{}
	config := lanes.RunnerConfig{
		MaxConcurrent: p.limit, TurnTimeout: p.timeout, MaxQueued: p.queue,
		Activate: p.activate, OnExit: p.onExit, Logger: slog.New(slog.DiscardHandler),
	}
	switch p.queue {
	case -1:
		config.MaxQueued = 0
	case 0:
		config.MaxQueued = lanes.NoQueue
	}
	var err error
	if p.runner, err = lanes.NewRunner(config); err != nil {
		p.violate("NewRunner: %v", err)
		return
	}
	for _, s := range append(p.plan, runnerStep{kind: "close"}) {
		p.want = nil
		p.log = append(p.log, strings.TrimSpace(s.kind+" "+s.key))
		p.now = time.Now()
		p.step(s)
		synctest.Wait()
		p.compare()
		// Activations begin at full milliseconds, and end a little beside them when their
		// time is over, so that no two things happen at one instant.
		time.Sleep(time.Millisecond)
		p.want = nil
		p.expire()
		synctest.Wait()
		p.compare()
	}
}

func (p *runnerPlay) activate(ctx context.Context, key string) error {
	do := make(chan string)
	p.mu.Lock()
	p.turns[key] = do
	p.mu.Unlock()
	select {
	case how := <-do:
		switch how {
		case "fail":
			return errors.New("failed")
		case "panic":
			panic("a bug")
		case "Goexit":
			runtime.Goexit()
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *runnerPlay) onExit(_ context.Context, e lanes.ActivationExit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case lanes.ActivationSucceeded:
		p.heard = append(p.heard, e.Key+" return")
	case lanes.ActivationFailed:
		p.heard = append(p.heard, e.Key+" "+e.Cause.String())
	case lanes.ActivationInterrupted:
		p.heard = append(p.heard, e.Key+" "+e.Reason.String())
	}
}

var runnerReports = map[string]string{
	"return": "return", "fail": "Cause(Fail(failed))", "panic": "Cause(Die(a bug))", "Goexit": "Cause(Die(runtime.Goexit was called on a fiber))",
}

func (p *runnerPlay) step(s runnerStep) {
	switch s.kind {
	case "wake":
		want := p.model.wake(s.key)
		got, err := p.runner.Wake(s.key)
		if err == nil && got.String() != want || err != nil && want != "" {
			p.violate("N2: %v, %v; the model has %q", got, err, want)
		}
		p.start()
	case "cancel":
		p.call("Cancel", 0, func(context.Context) error { return p.runner.Cancel(context.Background(), s.key) })
		p.model.drop(s.key)
		p.end(s.key, "cancel")
	case "close":
		p.call("Close", 0, p.runner.Close)
		p.close()
	case "drain":
		p.model.closed, p.drains = true, true
		p.call("Drain", 0, p.runner.Drain)
	case "drain in time":
		p.model.closed, p.drains = true, true
		p.call("Drain", 4500*time.Microsecond, p.runner.Drain)
	case "pass":
	default:
		if slices.Contains(p.model.running, s.key) {
			p.mu.Lock()
			do := p.turns[s.key]
			p.mu.Unlock()
			do <- s.kind
			p.end(s.key, runnerReports[s.kind])
		}
	}
}

// call makes a call that may wait, on a goroutine of its own. d is its context's time.
func (p *runnerPlay) call(what string, d time.Duration, fn func(context.Context) error) {
	c := &runnerCall{what: what, done: make(chan error, 1)}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if d > 0 {
		c.deadline = time.Now().Add(d)
		ctx, cancel = context.WithTimeout(ctx, d)
	}
	go func() {
		defer cancel()
		c.done <- fn(ctx)
	}()
	p.waiting = append(p.waiting, c)
}

// start notes which of the model's activations are new.
func (p *runnerPlay) start() {
	for _, key := range p.model.running {
		if _, known := p.began[key]; !known {
			p.began[key] = p.now
		}
	}
}

// end ends the key's activation in the model, if it runs.
func (p *runnerPlay) end(key, report string) {
	if !slices.Contains(p.model.running, key) {
		return
	}
	p.want = append(p.want, key+" "+report)
	delete(p.began, key)
	p.model.end(key)
	p.start()
}

// close closes the model, which cuts a drain short, if anything is left.
func (p *runnerPlay) close() {
	p.cut = p.cut || p.drains && len(p.model.running) > 0
	p.model.closed = true
	p.model.queue = nil
	clear(p.model.pending)
	for _, key := range slices.Clone(p.model.running) {
		p.end(key, "close")
	}
}

// expire brings the model to the present: what has come to its time since the last step
// ends, in the order of the times.
func (p *runnerPlay) expire() {
	for now := time.Now(); ; {
		next, what := now, func() {}
		earlier := func(at time.Time, fn func()) {
			if !at.After(next) {
				next, what = at, fn
			}
		}
		for _, c := range p.waiting {
			if !c.deadline.IsZero() {
				earlier(c.deadline, func() { c.deadline = time.Time{}; p.close() })
			}
		}
		for _, key := range p.model.running {
			if p.timeout > 0 {
				earlier(p.began[key].Add(p.timeout), func() { p.end(key, "timeout") })
			}
		}
		p.now = next
		if what(); next.Equal(now) {
			return
		}
	}
}

// compare holds what is to be seen against the model.
func (p *runnerPlay) compare() {
	st := p.runner.Status()
	if got, want := showStatus(st), p.model.String(); got != want {
		p.violate("N1, N4, N13: the status is %q, the model %q", got, want)
	}
	if st.Closed != p.model.closed {
		p.violate("N9, N15: closed is %v, the model's %v", st.Closed, p.model.closed)
	}
	p.mu.Lock()
	heard := p.heard
	p.heard = nil
	p.mu.Unlock()
	slices.Sort(heard)
	slices.Sort(p.want)
	if !slices.Equal(heard, p.want) {
		p.violate("N10: OnExit heard %q, the model has %q", heard, p.want)
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(c *runnerCall) bool {
		// Turns end as soon as they are stopped: only a drain has to wait.
		over := c.what != "Drain" || len(p.model.running) == 0
		select {
		case err := <-c.done:
			_, left := errors.AsType[*lanes.Undrained](err)
			if !over || left != (err != nil) || left != (p.cut && c.what == "Drain") {
				p.violate("N8, N9, N15: %s returned %v; the model has it over: %v, and cut short: %v", c.what, err, over, p.cut)
			}
			return true
		default:
			if over {
				p.violate("N8, N9, N15: %s still waits", c.what)
			}
			return false
		}
	})
}
