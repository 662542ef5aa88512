package effect_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

func TestPortingFailures(t *testing.T) {
	failA, failB := effect.Fail[string](portA{}), effect.Fail[string](portB{})
	die := effect.Die[string]("d")
	beside := portDefect[string]()
	seeing := func(l *portLog, saw string) func(portA) effect.Effect[effect.Unit] {
		return func(portA) effect.Effect[effect.Unit] { return l.note(saw) }
	}
	runPortingCases(t, []portingCase{
		{"isSuccess", "=[true false true false]", func(*portLog) effect.Effect[string] {
			one := effect.Succeed("1")
			return portShown(effect.All([]effect.Effect[bool]{effect.IsSuccess(one), effect.IsSuccess(failA), effect.IsFailure(failA), effect.IsFailure(one)}, effect.One))
		}},
		{"isSuccessDie", "!Die(d),Die(A)", func(*portLog) effect.Effect[string] { return portShown(effect.IsSuccess(beside)) }},
		{"isFailureDie", "!Die(d),Die(A)", func(*portLog) effect.Effect[string] {
			return portShown(effect.IsFailure(effect.Suspend(func() effect.Effect[string] { return beside })))
		}},
		{"catchNoSuchElement", "=None Some(1) !Fail(A)", func(*portLog) effect.Effect[string] {
			return portJoined(
				portShown(effect.CatchNoSuchElement(effect.FromOption(mo.None[string]()))),
				portShown(effect.CatchNoSuchElement(effect.Succeed("1"))),
				portExited(effect.CatchNoSuchElement(failA)))
		}},
		{"catchTags", "A; !Fail(B)", func(l *portLog) effect.Effect[string] {
			return failA.CatchTags(
				effect.OnTag(func(portA) effect.Effect[string] { return l.note("A").AndThen(failB) }),
				effect.OnTag(func(portB) effect.Effect[string] { return l.note("B").As("") }))
		}},
		{"catchTagsSecond", "B; =b", func(l *portLog) effect.Effect[string] {
			return failB.CatchTags(
				effect.OnTag(func(portA) effect.Effect[string] { return l.note("A").As("") }),
				effect.OnTag(func(portB) effect.Effect[string] { return l.note("B").As("b") }))
		}},
		{"catchTagsMiss", "!Fail(B)", func(l *portLog) effect.Effect[string] {
			return failB.CatchTags(effect.OnTag(func(portA) effect.Effect[string] { return l.note("A").As("") }))
		}},
		{"catchTagsDie", "!Die(d),Die(A)", func(l *portLog) effect.Effect[string] {
			return beside.CatchTags(effect.OnTag(func(portA) effect.Effect[string] { return l.note("A").As("") }))
		}},
		{"catchCauseIf", "=Die(d),Fail(A) !Fail(A)", func(*portLog) effect.Effect[string] {
			handled := func(c *scope.Cause) effect.Effect[string] { return effect.Succeed(portReasons(c)) }
			return portJoined(beside.CatchCauseIf((*scope.Cause).HasDies, handled), portExited(failA.CatchCauseIf((*scope.Cause).HasDies, handled)))
		}},
		{"tapCauseIf", "Die(d),Fail(A); !Die(d),Fail(A)", func(l *portLog) effect.Effect[string] {
			return beside.TapCauseIf((*scope.Cause).HasDies, func(c *scope.Cause) effect.Effect[effect.Unit] { return l.note(portReasons(c)) })
		}},
		{"tapCauseIfFails", "!Fail(B)", func(*portLog) effect.Effect[string] {
			return beside.TapCauseIf((*scope.Cause).HasDies, func(*scope.Cause) effect.Effect[string] { return failB })
		}},
		{"tapErrorTag", "saw A; saw A beside d; =!Fail(A) !Fail(B) !Die(d),Fail(A)", func(l *portLog) effect.Effect[string] {
			return portJoined(
				portExited(failA.TapErrorTag(seeing(l, "saw A"))),
				portExited(failB.TapErrorTag(seeing(l, "saw B"))),
				portExited(beside.TapErrorTag(seeing(l, "saw A beside d"))))
		}},
		{"mapBoth", "=!Die(d),Fail(B) =2", func(*portLog) effect.Effect[string] {
			toB := func(error) error { return portB{} }
			return portJoined(
				portExited(beside.MapBoth(toB, func(s string) string { return s })),
				portExited(effect.Succeed(1).MapBoth(toB, func(n int) int { return n + 1 })))
		}},
		{"onExitIf", "!Fail(A); ==1 !Fail(A),Fail(B)", func(l *portLog) effect.Effect[string] {
			return portJoined(
				portExited(effect.Succeed("1").OnExitIf(scope.Exit[string].IsFailure, func(scope.Exit[string]) effect.Effect[effect.Unit] { return l.note("no") })),
				portExited(failA.OnExitIf(scope.Exit[string].IsFailure, func(x scope.Exit[string]) effect.Effect[string] {
					return l.note(portExit(x)).AndThen(failB)
				})))
		}},
		{"onErrorIf", "Die(d),Fail(A); =!Fail(A) !Die(d),Die(A),Die(B)", func(l *portLog) effect.Effect[string] {
			return portJoined(
				portExited(failA.OnErrorIf((*scope.Cause).HasDies, func(*scope.Cause) effect.Effect[effect.Unit] { return l.note("no") })),
				portExited(beside.OnErrorIf((*scope.Cause).HasDies, func(c *scope.Cause) effect.Effect[string] {
					return l.note(portReasons(c)).AndThen(failB)
				})))
		}},
		{"onExitIfThrows", "!Die(A),Die(t)", func(l *portLog) effect.Effect[string] {
			return failA.OnExitIf(func(scope.Exit[string]) bool { panic("t") }, func(scope.Exit[string]) effect.Effect[effect.Unit] { return l.note("no") })
		}},
		{"eventually", "try1; other0; try2; other1; got3; other2; other3; =3", func(l *portLog) effect.Effect[string] {
			n := 0
			return effect.Gen(func(do *effect.Do) string {
				other := do.Await(effect.ForkChild(effect.GenUnit(func(do *effect.Do) {
					for i := range 4 {
						do.Await(l.note(fmt.Sprint("other", i)))
						do.Await(effect.YieldNow())
					}
				})))
				v := do.Await(effect.Suspend(func() effect.Effect[int] {
					if n++; n < 3 {
						return l.note(fmt.Sprint("try", n)).AndThen(effect.Fail[int](portA{}))
					}
					return effect.Succeed(n)
				}).Eventually())
				do.Await(l.note(fmt.Sprint("got", v)))
				do.Await(other.Join())
				return portText(v)
			})
		}},
		{"eventuallyDie", "!Die(d)", func(*portLog) effect.Effect[string] { return die.Eventually() }},
		{"eventuallyInterrupted", "try; try; =!Interrupt", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				fb := do.Await(effect.ForkChild(l.note("try").AndThen(failA).Eventually()))
				do.Await(effect.YieldNow())
				do.Await(effect.YieldNow())
				do.Await(fb.Interrupt())
				return portExit(do.Await(fb.Await()))
			})
		}},
		{"firstSuccessOf", "+a; -a!Fail(A); +b; -b=b; =b", func(l *portLog) effect.Effect[string] {
			return effect.FirstSuccessOf(portItem(l, "a", 1, failA), portNamed(l, "b", 1), portNamed(l, "c", 1))
		}},
		{"firstSuccessOfAllFail", "+a; -a!Fail(A); +b; -b!Fail(B); !Fail(B)", func(l *portLog) effect.Effect[string] {
			return effect.FirstSuccessOf(portItem(l, "a", 1, failA), portItem(l, "b", 1, failB))
		}},
		{"firstSuccessOfDie", "+a; -a!Die(d),Fail(A); !Die(d),Die(A)", func(l *portLog) effect.Effect[string] {
			return effect.FirstSuccessOf(portItem(l, "a", 1, beside), portNamed(l, "b", 1))
		}},
		{"firstSuccessOfInterrupted", "+a; -a!Fail(A); +b; -b!Interrupt; =!Interrupt", func(l *portLog) effect.Effect[string] {
			return portInterrupted(15*time.Millisecond, effect.FirstSuccessOf(portItem(l, "a", 10, failA), portNamed(l, "b", 10)))
		}},
		{"failSync", "=!Fail(A) !Die(x)", func(*portLog) effect.Effect[string] {
			return portJoined(
				portExited(effect.FailSync[int](func() error { return portA{} })),
				portExited(effect.FailCauseSync[int](func() *scope.Cause { return scope.CauseDie("x") })))
		}},
		{"acquireCloser", "use; dispose; !Die(boom)", func(l *portLog) effect.Effect[string] {
			return effect.Scoped(effect.AcquireCloser(effect.Succeed(portCloser(func() error {
				l.add("dispose")
				return fmt.Errorf("boom")
			}))).AndThen(l.note("use"))).As("")
		}},
		{"scopedContext", "false; =true", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				var ctx context.Context
				do.Await(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
					ctx = do.Await(effect.ScopedContext())
					do.Await(l.note(ctx.Err() != nil))
				})))
				return fmt.Sprint(ctx.Err() != nil)
			})
		}},
	})
}

type portCloser func() error

func (c portCloser) Close() error { return c() }
