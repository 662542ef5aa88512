package effect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

func TestPortingFibers(t *testing.T) {
	fork := func(do *effect.Do, e effect.Effect[string]) *effect.Fiber[string] {
		return do.Await(effect.ForkChild(e))
	}
	failing := func(l *portLog, name string, ms int, err error) effect.Effect[string] {
		return portItem(l, name, ms, effect.Fail[string](err))
	}
	joining := func(do *effect.Do, l *portLog, fibers ...*effect.Fiber[string]) *effect.Fiber[[]string] {
		return do.Await(effect.ForkChild(effect.JoinAll(fibers...).OnExit(func(x scope.Exit[[]string]) effect.Effect[effect.Unit] {
			return l.note("join" + portExit(x))
		})))
	}
	const pause = 5 * time.Millisecond
	runPortingCases(t, []portingCase{
		{"joinAllOrder", "+a; +b; +c; -b=b; -c=c; -a=a; =[a b c]", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				a, b, c := fork(do, portNamed(l, "a", 30)), fork(do, portNamed(l, "b", 10)), fork(do, portNamed(l, "c", 20))
				return portText(do.Await(effect.JoinAll(a, b, c)))
			})
		}},
		{"joinAllFirstFailure", "+a; +b; +c; -b!Fail(B); joined!Fail(B); -c=c; -a!Fail(A); =1", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				a, b, c := fork(do, failing(l, "a", 30, portA{})), fork(do, failing(l, "b", 10, portB{})), fork(do, portNamed(l, "c", 20))
				do.Await(l.note("joined" + do.Await(portExited(effect.JoinAll(a, b, c)))))
				do.Await(effect.AwaitAll(a, b, c))
				return "1"
			})
		}},
		{"joinAllDone", "+a; -a!Fail(A); +b; -b!Fail(B); joined!Fail(B); =[]", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				a, b := fork(do, failing(l, "a", 0, portA{})), fork(do, failing(l, "b", 0, portB{}))
				do.Await(effect.YieldNow())
				do.Await(l.note("joined" + do.Await(portExited(effect.JoinAll(b, a)))))
				return portText(do.Await(effect.JoinAll[string]()))
			})
		}},
		{"joinAllInterrupted", "+a; +b; join!Interrupt; interrupted; -b=b; -a=a; =[a b]", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				a, b := fork(do, portNamed(l, "a", 30)), fork(do, portNamed(l, "b", 10))
				j := joining(do, l, a, b)
				do.Await(effect.Sleep(pause))
				do.Await(j.Interrupt())
				do.Await(l.note("interrupted"))
				return portText(do.Await(effect.JoinAll(a, b)))
			})
		}},
		{"joinAllOfInterrupted", "+a; +b; -b!Interrupt; join!Interrupt; interrupted; -a!Interrupt; =!Interrupt", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				a, b := fork(do, portNamed(l, "a", 30)), fork(do, portNamed(l, "b", 10))
				j := joining(do, l, a, b)
				do.Await(effect.Sleep(pause))
				do.Await(b.InterruptAs(7))
				do.Await(l.note("interrupted"))
				return portExit(do.Await(j.Await()))
			})
		}},
		{"awaitAllExits", "+a; +b; -b=b; -a!Fail(A); =!Fail(A) =b", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				a, b := fork(do, failing(l, "a", 30, portA{})), fork(do, portNamed(l, "b", 10))
				return portExits(do.Await(effect.AwaitExits(a, b)))
			})
		}},
		{"interruptAllAs", "+a; +b; -a!Interrupt; -b!Interrupt; =[9] [9]", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				a, b := fork(do, portNamed(l, "a", 30)), fork(do, portNamed(l, "b", 10))
				do.Await(effect.Sleep(1))
				do.Await(effect.InterruptAllAs(9, a, b))
				by := portMap(do.Await(effect.AwaitExits(a, b)), func(x scope.Exit[string]) string { return fmt.Sprint(x.Cause().Interruptors()) })
				return strings.Join(by, " ")
			})
		}},
		{"latchNow", "releasetrue; w1; closedtrue; w2; w3; opentrue; isOpenfalse; opentrue; openfalse; w4; =true false", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				gate := effect.NewLatch(false)
				wait := func(n int) *effect.Fiber[effect.Unit] {
					return do.Await(effect.ForkChild(gate.Await().AndThen(l.note(fmt.Sprint("w", n))).AndThen(effect.SyncUnit(func() {
						if n == 1 {
							l.add(fmt.Sprint("closed", gate.CloseNow()))
						}
					})), effect.StartImmediately()))
				}
				w1, w2 := wait(1), wait(2)
				do.Await(l.note(fmt.Sprint("release", do.Await(gate.Release()))))
				w3 := wait(3)
				do.Await(l.note(fmt.Sprint("open", gate.OpenNow())))
				do.Await(l.note(fmt.Sprint("isOpen", gate.IsOpen())))
				w4 := wait(4)
				do.Await(effect.YieldNow())
				do.Await(l.note(fmt.Sprint("open", do.Await(gate.Open()))))
				do.Await(l.note(fmt.Sprint("open", gate.OpenNow())))
				do.Await(effect.AwaitAll(w1, w2, w3, w4))
				return fmt.Sprint(gate.CloseNow(), gate.CloseNow())
			})
		}},
		{"latchReleaseTwice", "w1; before; w2; after; w3; =done", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				gate := effect.NewLatch(false)
				wait := func(n int) *effect.Fiber[effect.Unit] {
					return do.Await(effect.ForkChild(gate.Await().AndThen(l.note(fmt.Sprint("w", n))), effect.StartImmediately()))
				}
				w1 := wait(1)
				do.Await(gate.Release())
				gate.OpenNow()
				gate.CloseNow()
				w2 := wait(2)
				do.Await(gate.Release())
				w3 := wait(3)
				do.Await(l.note("before"))
				do.Await(effect.YieldNow())
				do.Await(l.note("after"))
				do.Await(gate.Release())
				do.Await(effect.AwaitAll(w1, w2, w3))
				return "done"
			})
		}},
		{"deferredSync", "fn1; fn2; fn3; fn4; =true false false false false !Fail(A) [3]", func(l *portLog) effect.Effect[string] {
			return effect.Gen(func(do *effect.Do) string {
				d := do.Await(effect.MakeDeferred[int]())
				out := fmt.Sprint(
					do.Await(d.FailSync(func() error { l.add("fn1"); return portA{} })),
					do.Await(d.Sync(func() int { l.add("fn2"); return 1 })),
					do.Await(d.DieSync(func() any { l.add("fn3"); return 1 })),
					do.Await(d.FailCauseSync(func() *scope.Cause { l.add("fn4"); return scope.CauseDie("x") })),
					do.Await(d.InterruptWith(3)))
				e := do.Await(effect.MakeDeferred[int]())
				do.Await(e.InterruptWith(3))
				x := do.Await(effect.Exit(e.Await()))
				return fmt.Sprint(out, " ", do.Await(portExited(d.Await())), " ", x.Cause().Interruptors())
			})
		}},
	})
}
