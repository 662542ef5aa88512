package proptest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// Scope plays a tree of scopes, sequential and parallel ones, that fibers add
// finalizers to, fork from, fork fibers in and close, with any exits, in schedules
// that rapid draws, while some of those fibers are interrupted. Finalizers
// succeed, fail, panic, call runtime.Goexit, wait, and add to the scope that is
// being closed.
//
// It holds that
//   - every finalizer runs exactly once, with the exit of the first close;
//   - those of a sequential scope run one after the other, the last added first;
//   - a close has run them all when it returns, and gives what they failed with, in
//     order, and a second close gives nothing;
//   - what is added to a closed scope has run when the adding returns;
//   - a scope closes with its parent, and a fiber forked in it has ended then.
func Scope(t TB) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		fibers := rapid.SliceOfN(many(rapid.Custom(drawScopeAction)), 1, 3).Draw(t, "what each fiber does")
		interrupts := rapid.SliceOfN(rapid.IntRange(0, len(fibers)-1), 0, 2).Draw(t, "whom the main fiber interrupts, one each millisecond")
		got := explore(t, func(choose scope.Chooser) *scopePlay {
			play := &scopePlay{}
			play.run(choose, fibers, interrupts)
			return play
		})
		if bad := got.result.violations; len(bad) > 0 {
			t.Logf("what happened:\n%s", strings.Join(got.result.log, "\n"))
			t.Fatalf("%s", bad[0])
		}
	})
}

// scopeAction is one thing that a fiber does to one of the scopes.
type scopeAction struct {
	kind string
	at   int // which scope, of those that there are then
	how  string
}

var (
	scopeKinds     = []string{"add", "add", "add", "fork scope", "fork fiber", "close", "wait"}
	finalizerKinds = []string{"succeeds", "waits", "fails", "waits and fails", "panics", "adds", "exits"}
)

func drawScopeAction(t *rapid.T) scopeAction {
	a := scopeAction{kind: rapid.SampledFrom(scopeKinds).Draw(t, "kind"), at: rapid.IntRange(0, 5).Draw(t, "at")}
	switch a.kind {
	case "add":
		a.how = rapid.SampledFrom(finalizerKinds).Draw(t, "finalizer")
	case "fork scope":
		a.how = rapid.SampledFrom([]string{"sequential", "parallel"}).Draw(t, "strategy")
	case "close":
		a.how = rapid.SampledFrom([]string{"success", "failure", "defect", "interruption"}).Draw(t, "exit")
	}
	return a
}

// GoString is for rapid's report.
func (a scopeAction) GoString() string {
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", a.kind, a.at, a.how))
}

// scopePlay is one case.
type scopePlay struct {
	scopes     []*playedScope
	log        []string
	violations []string
}

// playedScope is a scope and what is known of it.
type playedScope struct {
	n        int
	parent   *playedScope
	scope    *scope.Scope
	entries  []*playedFinalizer // added while it was open, in order
	late     []*playedFinalizer // added when it was closed
	children []*playedScope
	fibers   []*effect.Fiber[effect.Unit]
}

type playedFinalizer struct {
	name           string
	at             *playedScope
	how            string
	started, ended int // how often
	exit           scope.Exit[any]
	reason         scope.Reason // what it fails with, or nil
}

var errScope = errors.New("a finalizer's failure")

func (p *scopePlay) note(format string, args ...any) {
	p.log = append(p.log, "  "+fmt.Sprintf(format, args...))
}

func (p *scopePlay) violate(rule string) {
	p.note("VIOLATED: %s", rule)
	p.violations = append(p.violations, rule)
}

func (p *scopePlay) run(choose scope.Chooser, plans [][]scopeAction, interrupts []int) {
	root := &playedScope{scope: scope.New(scope.Sequential)}
	p.scopes = []*playedScope{root}
	err := simulate(deterministicSchedules(choose), func(do *effect.Do) {
		var fibers []*effect.Fiber[effect.Unit]
		for i, plan := range plans {
			fibers = append(fibers, do.Await(forkHeard(effect.GenUnit(func(do *effect.Do) {
				for _, a := range plan {
					do.Await(p.act(i, a))
				}
			}))))
		}
		for _, i := range interrupts {
			do.Await(effect.Sleep(time.Millisecond))
			p.note("fiber %d is interrupted", i)
			fibers[i].InterruptNow(0)
		}
		for _, fiber := range fibers {
			do.Await(fiber.Await())
		}
		// On a fiber of its own: a finalizer may end that one by runtime.Goexit.
		last := do.Await(forkHeard(p.close("the last fiber", root, scope.ExitSucceed[any]("the end"))))
		do.Await(last.Await())
	})
	if err != nil {
		p.note("%v", err)
		p.violate("the program of scopes did not end well")
	}
	p.audit()
}

// forkHeard starts a fiber whose defect does not count as one that nobody
// observes: a finalizer that is added late and panics is the adding fiber's.
func forkHeard(e effect.Effect[effect.Unit]) effect.Effect[*effect.Fiber[effect.Unit]] {
	return effect.Direct(func(f *scope.Fiber) (*effect.Fiber[effect.Unit], *scope.Cause) {
		fiber, c := effect.RunOn(f, effect.ForkDetach(e))
		if c == nil {
			fiber.Kernel().Observe(scope.NewObserver(func(*scope.Fiber) {}))
		}
		return fiber, c
	})
}

func (p *scopePlay) act(by int, a scopeAction) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		at := p.scopes[a.at%len(p.scopes)]
		switch a.kind {
		case "add":
			return effect.Unit{}, p.add(f, at, a.how, nil)
		case "fork scope":
			strategy := scope.Sequential
			if a.how == "parallel" {
				strategy = scope.Parallelly
			}
			child := &playedScope{n: len(p.scopes), parent: at, scope: at.scope.Fork(strategy)}
			p.note("scope %d is forked from %d, %s", child.n, at.n, a.how)
			p.scopes = append(p.scopes, child)
			at.children = append(at.children, child)
			if at.scope.Closed() && !child.scope.Closed() {
				p.violate("a fork of a closed scope is open")
			}
		case "fork fiber":
			fiber, c := effect.RunOn(f, effect.ForkIn(effect.Never[effect.Unit]().Ensuring(effect.YieldNow()), at.scope))
			if c != nil {
				return effect.Unit{}, c
			}
			at.fibers = append(at.fibers, fiber)
		case "close":
			_, c := effect.RunOn(f, p.close(fmt.Sprint("fiber ", by), at, exitOf(a.how)))
			return effect.Unit{}, c
		case "wait":
			_, c := effect.RunOn(f, effect.Sleep(time.Millisecond))
			return effect.Unit{}, c
		}
		return effect.Unit{}, nil
	})
}

func exitOf(how string) scope.Exit[any] {
	switch how {
	case "failure":
		return scope.ExitFail[any](errScope)
	case "defect":
		return scope.ExitDie[any]("a defect")
	case "interruption":
		return scope.ExitInterrupt[any](99)
	default:
		return scope.ExitSucceed[any]("a success")
	}
}

// add adds a finalizer. A finalizer that adds gives itself as inner.
func (p *scopePlay) add(f *scope.Fiber, at *playedScope, how string, inner *playedFinalizer) *scope.Cause {
	fin := &playedFinalizer{name: fmt.Sprintf("%d/%d", at.n, len(at.entries)+len(at.late)), at: at, how: how}
	closed := at.scope.Closed()
	if closed {
		at.late = append(at.late, fin)
	} else {
		at.entries = append(at.entries, fin)
	}
	p.note("%s is added, %s", fin.name, how)
	c := at.scope.Add(f, func(f *scope.Fiber, exit scope.Exit[any]) *scope.Cause { return p.finalize(f, fin, exit) })
	if closed && fin.ended != 1 && how != "exits" && !c.HasInterrupts() {
		p.violate("what is added to a closed scope has not run when the adding returns")
	}
	if inner != nil || closed {
		return nil // what it failed with is known from fin
	}
	return c
}

// finalize is the finalizer.
func (p *scopePlay) finalize(f *scope.Fiber, fin *playedFinalizer, exit scope.Exit[any]) *scope.Cause {
	p.note("%s runs, the exit is %v", fin.name, exit)
	if fin.started++; fin.started > 1 {
		p.violate("a finalizer runs twice")
	}
	fin.exit = exit
	p.inOrder(fin)
	switch fin.how {
	case "waits", "waits and fails":
		if _, c := effect.RunOn(f, effect.Sleep(time.Millisecond).AndThen(effect.YieldNow())); c != nil {
			// Only what is added late runs unmasked.
			fin.ended++
			return c
		}
	case "adds":
		if c := p.add(f, fin.at, "succeeds", fin); c != nil {
			return c
		}
	}
	fin.ended++
	switch fin.how {
	case "fails", "waits and fails":
		fin.reason = scope.Fail{Err: fmt.Errorf("%w: %s", errScope, fin.name)}
		return scope.CauseFromReasons(fin.reason)
	case "panics":
		fin.reason = scope.Die{Defect: fin.name}
		panic(fin.name)
	case "exits":
		fin.reason = scope.Die{Defect: scope.Exited{}}
		runtime.Goexit()
	}
	return nil
}

// inOrder checks that everything which was added later has run.
func (p *scopePlay) inOrder(fin *playedFinalizer) {
	i := slices.Index(fin.at.entries, fin)
	if i < 0 || fin.at.scope.Strategy() != scope.Sequential {
		return
	}
	for _, later := range fin.at.entries[i+1:] {
		if later.ended == 0 {
			p.violate("a sequential scope does not run the last added finalizer first, to its end")
		}
	}
	for _, earlier := range fin.at.entries[:i] {
		if earlier.started > 0 {
			p.violate("a sequential scope runs an earlier finalizer first")
		}
	}
}

// close closes a scope and checks what that did.
func (p *scopePlay) close(by string, at *playedScope, exit scope.Exit[any]) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		return effect.Unit{}, p.closeNow(f, by, at, exit)
	})
}

func (p *scopePlay) closeNow(f *scope.Fiber, by string, at *playedScope, exit scope.Exit[any]) *scope.Cause {
	first := !at.scope.Closed()
	before := p.reasons(at)
	p.note("%s closes scope %d with %v", by, at.n, exit)
	c := at.scope.Close(f, exit)
	p.note("%s has closed scope %d: %v", by, at.n, c)
	if !first {
		if rest := c.WithoutInterrupts(); rest != nil {
			p.violate("a second close gives a cause")
		}
		return nil
	}
	for _, fin := range at.entries {
		if fin.ended == 0 {
			p.violate("a close returned before every finalizer had run")
		}
	}
	for _, fiber := range at.fibers {
		if _, ended := fiber.Exited(); !ended {
			p.violate("a close returned before a fiber forked in the scope had ended")
		}
	}
	// Children that somebody else closes at the same time are not this close's.
	if p.alone(at) && before == 0 {
		p.checkCause(at, c.WithoutInterrupts())
	}
	return nil
}

// alone tells whether the scope has no child scopes, so that all it runs is its
// own.
func (p *scopePlay) alone(at *playedScope) bool { return len(at.children) == 0 }

// reasons counts the finalizers of the scope that have failed.
func (p *scopePlay) reasons(at *playedScope) (n int) {
	for _, fin := range at.entries {
		if fin.reason != nil {
			n++
		}
	}
	return n
}

// checkCause holds what a close gave against what its finalizers failed with.
func (p *scopePlay) checkCause(at *playedScope, c *scope.Cause) {
	var want, got []string
	for i := len(at.entries) - 1; i >= 0; i-- {
		if r := at.entries[i].reason; r != nil {
			want = append(want, r.String())
		}
	}
	for _, r := range c.Reasons() {
		got = append(got, r.String())
	}
	if !slices.Equal(got, want) {
		p.note("want %v", want)
		p.violate("a close does not give what its finalizers failed with, in the order in which they are run")
	}
}

// audit looks at everything when the root is closed.
func (p *scopePlay) audit() {
	for _, s := range p.scopes {
		if !s.scope.Closed() {
			p.violate("a scope is open though its parent is closed")
		}
		var exit *scope.Exit[any]
		for _, fin := range append(slices.Clone(s.entries), s.late...) {
			switch {
			case fin.started != 1 || fin.ended != 1:
				p.note("%s has started %d times and ended %d times", fin.name, fin.started, fin.ended)
				p.violate("a finalizer did not run exactly once")
			case exit == nil:
				exit = &fin.exit
			case exit.String() != fin.exit.String():
				p.violate("the finalizers of one scope get different exits")
			}
		}
	}
}
