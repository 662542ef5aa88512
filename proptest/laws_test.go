package proptest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/proptest"
	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// term is a program as data, so that two sides of a law can be built from it.
type term struct {
	op   string
	n    int
	subs []term
}

func (t term) GoString() string {
	if len(t.subs) == 0 {
		return fmt.Sprintf("%s(%d)", t.op, t.n)
	}
	var subs []string
	for _, s := range t.subs {
		subs = append(subs, s.GoString())
	}
	return fmt.Sprintf("%s(%s)", t.op, strings.Join(subs, ", "))
}

// terms are of that depth at most.
func terms(depth int) *rapid.Generator[term] {
	return rapid.Custom(func(t *rapid.T) term {
		leaves := []string{"succeed", "log", "fail", "die", "sleep", "yield"}
		inner := []string{"then", "catch", "ensuring", "uninterruptible", "interruptible", "scoped", "race"}
		n := rapid.IntRange(0, 9).Draw(t, "n")
		if depth == 0 || rapid.Bool().Draw(t, "leaf") {
			return term{op: rapid.SampledFrom(leaves).Draw(t, "op"), n: n}
		}
		op := rapid.SampledFrom(inner).Draw(t, "op")
		subs := []term{terms(depth-1).Draw(t, "sub")}
		if op == "then" || op == "catch" || op == "ensuring" || op == "race" {
			subs = append(subs, terms(depth-1).Draw(t, "sub"))
		}
		return term{op, n, subs}
	})
}

var errLaw = errors.New("expected")

// build makes the program; what it does goes into log.
func (t term) build(log *[]string) effect.Effect[int] {
	note := func(format string, args ...any) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { *log = append(*log, fmt.Sprintf(format, args...)) })
	}
	sub := func(i int) effect.Effect[int] { return t.subs[i].build(log) }
	switch t.op {
	case "log":
		return note("%d", t.n).As(t.n)
	case "fail":
		return effect.Fail[int](fmt.Errorf("%w %d", errLaw, t.n))
	case "die":
		return effect.Die[int](t.n)
	case "sleep":
		return effect.Sleep(time.Duration(t.n) * time.Millisecond).As(t.n)
	case "yield":
		return effect.YieldNow().As(t.n)
	case "then":
		return sub(0).FlatMap(func(v int) effect.Effect[int] { return note("then %d", v).AndThen(sub(1)) })
	case "catch":
		return sub(0).Catch(func(err error) effect.Effect[int] { return note("catch %v", err).AndThen(sub(1)) })
	case "ensuring":
		return sub(0).Ensuring(sub(1))
	case "uninterruptible":
		return sub(0).Uninterruptible()
	case "interruptible":
		return sub(0).Interruptible()
	case "scoped":
		return effect.Scoped(effect.AcquireRelease(sub(0), func(v int, _ exit) effect.Effect[effect.Unit] { return note("release %d", v) }))
	case "race":
		return sub(0).Race(sub(1))
	default:
		return effect.Succeed(t.n)
	}
}

// behaviour is all that can be seen of a run.
func behaviour(e effect.Effect[int], log *[]string) string {
	out := effect.RunDeterministic(e, effect.DeterministicConfig{})
	return fmt.Sprintf("%v at %v, %s", out.Exit.MustGet(), out.Now, strings.Join(*log, "; "))
}

// same checks that the two sides of a law behave the same.
func same(t *rapid.T, law string, left, right func(log *[]string) effect.Effect[int]) {
	t.Helper()
	var a, b []string
	l, r := behaviour(left(&a), &a), behaviour(right(&b), &b)
	if l != r {
		t.Fatalf("%s: the left side gives\n  %s\nand the right one\n  %s", law, l, r)
	}
}

func double(v int) int { return 2 * v }
func addOne(v int) int { return v + 1 }

// Functor and monad laws, and those of failures.
func TestLawsOfEffects(t *testing.T) {
	type effectOf = func(log *[]string) effect.Effect[int]
	rapid.Check(t, func(t *rapid.T) {
		e, k, m := terms(3).Draw(t, "e"), terms(2).Draw(t, "k"), terms(2).Draw(t, "m")
		n := rapid.IntRange(0, 9).Draw(t, "n")
		kleisli := func(of term, log *[]string) func(int) effect.Effect[int] {
			return func(v int) effect.Effect[int] { return of.build(log).Map(func(w int) int { return 10*v + w }) }
		}
		for _, law := range []struct {
			name        string
			left, right effectOf
		}{
			{
				"map(id) = id",
				func(log *[]string) effect.Effect[int] { return e.build(log).Map(func(v int) int { return v }) },
				e.build,
			},
			{
				"map(f).map(g) = map(g of f)",
				func(log *[]string) effect.Effect[int] { return e.build(log).Map(double).Map(addOne) },
				func(log *[]string) effect.Effect[int] {
					return e.build(log).Map(func(v int) int { return addOne(double(v)) })
				},
			},
			{
				"succeed(n).flatMap(k) = k(n)",
				func(log *[]string) effect.Effect[int] { return effect.Succeed(n).FlatMap(kleisli(k, log)) },
				func(log *[]string) effect.Effect[int] { return kleisli(k, log)(n) },
			},
			{
				"e.flatMap(succeed) = e",
				func(log *[]string) effect.Effect[int] { return e.build(log).FlatMap(effect.Succeed) },
				e.build,
			},
			{
				"e.flatMap(k).flatMap(m) = e.flatMap(v => k(v).flatMap(m))",
				func(log *[]string) effect.Effect[int] {
					return e.build(log).FlatMap(kleisli(k, log)).FlatMap(kleisli(m, log))
				},
				func(log *[]string) effect.Effect[int] {
					return e.build(log).FlatMap(func(v int) effect.Effect[int] { return kleisli(k, log)(v).FlatMap(kleisli(m, log)) })
				},
			},
			{
				"e.map(f) = e.flatMap(succeed of f)",
				func(log *[]string) effect.Effect[int] { return e.build(log).Map(double) },
				func(log *[]string) effect.Effect[int] {
					return e.build(log).FlatMap(func(v int) effect.Effect[int] { return effect.Succeed(double(v)) })
				},
			},
			{
				"fail(err).flatMap(k) = fail(err)",
				func(log *[]string) effect.Effect[int] { return effect.Fail[int](errLaw).FlatMap(kleisli(k, log)) },
				func(*[]string) effect.Effect[int] { return effect.Fail[int](errLaw) },
			},
			{
				"fail(err).catch(h) = h(err)",
				func(log *[]string) effect.Effect[int] {
					return effect.Fail[int](errLaw).Catch(func(error) effect.Effect[int] { return k.build(log) })
				},
				k.build,
			},
			{
				// Not of catch and fail: a cause may have several failures, and catch sees one.
				"e.catchCause(failCause) = e",
				func(log *[]string) effect.Effect[int] { return e.build(log).CatchCause(effect.FailCause[int]) },
				e.build,
			},
		} {
			same(t, law.name, law.left, law.right)
		}
	})
}

// Laws of masks that nobody interrupts.
func TestLawsOfMasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, f, g := terms(3).Draw(t, "e"), terms(1).Draw(t, "f"), terms(1).Draw(t, "g")
		same(t, "uninterruptible twice = once",
			func(log *[]string) effect.Effect[int] { return e.build(log).Uninterruptible().Uninterruptible() },
			func(log *[]string) effect.Effect[int] { return e.build(log).Uninterruptible() })
		same(t, "uninterruptibleMask(restore => restore(e)) = e",
			func(log *[]string) effect.Effect[int] {
				return effect.UninterruptibleMask(func(r effect.Restore) effect.Effect[int] { return r.Run(e.build(log)) })
			}, e.build)
		same(t, "uninterruptibleMask(_ => e) = uninterruptible(e)",
			func(log *[]string) effect.Effect[int] {
				return effect.UninterruptibleMask(func(effect.Restore) effect.Effect[int] { return e.build(log) })
			},
			func(log *[]string) effect.Effect[int] { return e.build(log).Uninterruptible() })
		same(t, "e.ensuring(f).ensuring(g) runs f, then g",
			func(log *[]string) effect.Effect[int] {
				return e.build(log).Ensuring(f.build(log)).Ensuring(g.build(log))
			},
			func(log *[]string) effect.Effect[int] {
				return effect.Scoped(effect.AddFinalizer(func(exit) effect.Effect[int] { return g.build(log) }).
					AndThen(effect.Scoped(effect.AddFinalizer(func(exit) effect.Effect[int] { return f.build(log) }).AndThen(e.build(log)))))
			})
	})
}

// everywhere runs e once for each step, interrupted there, and lets check look at
// what was logged.
func everywhere(t *rapid.T, law string, program func(log *[]string) effect.Effect[int], check func(step int, exit scope.Exit[int], log []string) string) {
	t.Helper()
	var log []string
	err := effect.InterruptEverywhere(func() effect.Effect[int] {
		log = nil
		return program(&log)
	}, effect.EverywhereConfig{}, func(step int, out effect.RunReport[int]) error {
		end, ended := out.Exit.Get()
		if !ended {
			return fmt.Errorf("it does not end\n%v", out.Report)
		}
		if bad := check(step, end, log); bad != "" {
			return fmt.Errorf("%s: %v, log %q", bad, end, log)
		}
		return nil
	})
	if err != nil {
		t.Logf("%v", err)
		t.Fatalf("%s", law)
	}
}

func count(log []string, what string) (n int) {
	for _, line := range log {
		if line == what {
			n++
		}
	}
	return n
}

// Laws of interruption, at every step.
func TestLawsOfInterruption(t *testing.T) {
	mark := func(log *[]string, what string) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { *log = append(*log, what) })
	}
	rapid.Check(t, func(t *rapid.T) {
		e, f := terms(2).Draw(t, "e"), terms(1).Draw(t, "f")
		everywhere(t, "a finalizer runs exactly once when its effect began",
			func(log *[]string) effect.Effect[int] {
				return mark(log, "began").AndThen(e.build(log)).Ensuring(mark(log, "finalized"))
			},
			func(_ int, _ scope.Exit[int], log []string) string {
				if count(log, "began") > count(log, "finalized") || count(log, "finalized") > 1 {
					return "it did not"
				}
				return ""
			})
		everywhere(t, "what is acquired is released, once",
			func(log *[]string) effect.Effect[int] {
				return effect.Scoped(effect.AcquireRelease(e.build(log).Tap(func(int) effect.Effect[effect.Unit] { return mark(log, "acquired") }),
					func(int, exit) effect.Effect[effect.Unit] { return mark(log, "released") }).AndThen(f.build(log)))
			},
			func(_ int, _ scope.Exit[int], log []string) string {
				if count(log, "acquired") != count(log, "released") {
					return "it is not"
				}
				return ""
			})
		// An interruption is an exit, even where the last step was about to succeed,
		// and no handler makes anything else of it.
		everywhere(t, "an interruption is not caught",
			func(log *[]string) effect.Effect[int] {
				return e.build(log).Catch(func(error) effect.Effect[int] { return effect.Succeed(-1) }).
					CatchCause(func(*scope.Cause) effect.Effect[int] { return effect.Succeed(-2) })
			},
			func(step int, end scope.Exit[int], _ []string) string {
				if step > 0 && !end.Cause().HasInterrupts() {
					return "it is"
				}
				return ""
			})
		// Masked code does all or nothing.
		var whole []string
		body := term{op: "uninterruptible", subs: []term{withoutOpenings(e)}}
		out := effect.RunDeterministic(body.build(&whole), effect.DeterministicConfig{})
		plain := out.Exit.MustGet().IsSuccess()
		everywhere(t, "an uninterruptible effect runs as if nobody interrupted, or not at all",
			body.build,
			func(step int, end scope.Exit[int], log []string) string {
				if len(log) > 0 && !slices.Equal(log, whole) {
					return fmt.Sprintf("uninterrupted it logs %q", whole)
				}
				if step == 0 && end.IsSuccess() != plain {
					return "it is another run"
				}
				return ""
			})
	})
}

// withoutOpenings is the term without interruptible parts, and without races,
// which interrupt fibers of their own.
func withoutOpenings(t term) term {
	if t.op == "interruptible" || t.op == "race" {
		t.op = "scoped"
	}
	subs := make([]term, 0, len(t.subs))
	for _, s := range t.subs {
		subs = append(subs, withoutOpenings(s))
	}
	if t.op == "scoped" {
		subs = subs[:1]
	}
	t.subs = subs
	return t
}

// Interrupting a fiber ends it with that, in every schedule, and runs what it
// holds.
func TestLawInterruptedFibersEnd(t *testing.T) {
	proptest.Check(t, func() effect.Effect[effect.Unit] {
		released, acquired := 0, 0
		hold := effect.AcquireRelease(effect.SyncUnit(func() { acquired++ }),
			func(effect.Unit, exit) effect.Effect[effect.Unit] {
				return effect.YieldNow().AndThen(effect.SyncUnit(func() { released++ }))
			})
		return effect.GenUnit(func(do *effect.Do) {
			fiber := do.Await(effect.ForkChild(effect.Scoped(hold.AndThen(effect.Never[effect.Unit]()))))
			do.Await(effect.YieldNow())
			do.Await(fiber.Interrupt())
			end, ended := fiber.Exited()
			if !ended || !end.Cause().HasInterruptsOnly() || acquired != released {
				do.Fail(fmt.Errorf("it ended %v with %v, acquired %d and released %d times", ended, end, acquired, released))
			}
		})
	})
}
