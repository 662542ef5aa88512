package effect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// The programs of this file were run on effect@4.1.0; want is what it logged,
// and then its exit: "=" a value, or "!" the reasons of the cause.

type (
	portA   struct{}
	portB   struct{}
	portLog struct{ lines []string }
)

func (portA) Error() string { return "A" }
func (portB) Error() string { return "B" }

func (l *portLog) add(v any) { l.lines = append(l.lines, fmt.Sprint(v)) }

func (l *portLog) note(v any) effect.Effect[effect.Unit] { return effect.SyncUnit(func() { l.add(v) }) }

func portText(v any) string {
	switch v := v.(type) {
	case effect.Unit:
		return "{}"
	case mo.Option[string]:
		return portOption(v)
	case mo.Option[int]:
		return portOption(v)
	case []mo.Option[string]:
		return fmt.Sprint(portMap(v, portOption))
	case *effect.NoSuchElement:
		return v.Tag()
	case *effect.Invalid:
		return fmt.Sprint(v.Fails)
	}
	return fmt.Sprint(v)
}

func portMap[T, U any](list []T, fn func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = fn(v)
	}
	return out
}

func portOption[T any](o mo.Option[T]) string {
	if v, ok := o.Get(); ok {
		return "Some(" + portText(v) + ")"
	}
	return "None"
}

func portReasons(c *scope.Cause) string {
	var parts []string
	for _, r := range c.Reasons() {
		switch r := r.(type) {
		case scope.Fail:
			parts = append(parts, "Fail("+portText(r.Err)+")")
		case scope.Die:
			parts = append(parts, "Die("+portText(r.Defect)+")")
		case scope.Interrupt:
			parts = append(parts, "Interrupt")
		}
	}
	return strings.Join(parts, ",")
}

func portExit[A any](x scope.Exit[A]) string {
	return x.Match(func(c *scope.Cause) string { return "!" + portReasons(c) }, func(v A) string { return "=" + portText(v) })
}

func portExits[A any](list []scope.Exit[A]) string {
	return strings.Join(portMap(list, portExit[A]), " ")
}

// shown is e with its result as text.
func portShown[A any](e effect.Effect[A]) effect.Effect[string] {
	return e.Map(func(v A) string { return portText(v) })
}

// exited is how e ends, as text.
func portExited[A any](e effect.Effect[A]) effect.Effect[string] {
	return effect.Exit(e).Map(portExit[A])
}

func portJoined(effects ...effect.Effect[string]) effect.Effect[string] {
	return effect.All(effects, effect.One).Map(func(parts []string) string { return strings.Join(parts, " ") })
}

func portDefect[A any]() effect.Effect[A] {
	return effect.FailCause[A](scope.CauseDie("d").Combine(scope.CauseFail(portA{})))
}

// item logs when it starts and how it ends, and takes ms milliseconds.
func portItem[A any](l *portLog, name string, ms int, e effect.Effect[A]) effect.Effect[A] {
	return effect.Gen(func(do *effect.Do) A {
		do.Await(l.note("+" + name))
		if ms > 0 {
			do.Await(effect.Sleep(time.Duration(ms) * time.Millisecond))
		}
		return do.Await(e)
	}).OnExit(func(x scope.Exit[A]) effect.Effect[effect.Unit] { return l.note("-" + name + portExit(x)) })
}

func portNamed(l *portLog, name string, ms int) effect.Effect[string] {
	return portItem(l, name, ms, effect.Succeed(name))
}

type portingCase struct {
	name, want string
	program    func(l *portLog) effect.Effect[string]
}

func runPortingCases(t *testing.T, cases []portingCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := &portLog{}
			out := effect.RunDeterministic(effect.Suspend(func() effect.Effect[string] { return c.program(l) }), effect.DeterministicOptions{})
			exit, ended := out.Exit.Get()
			if !ended {
				t.Fatalf("never ended: %v", out.Report)
			}
			l.add(portExit(exit))
			if got := strings.Join(l.lines, "; "); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

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
				gate := effect.MakeLatch(false)
				wait := func(n int) *effect.Fiber[effect.Unit] {
					return do.Await(effect.ForkChild(gate.Await().AndThen(l.note(fmt.Sprint("w", n))).AndThen(effect.SyncUnit(func() {
						if n == 1 {
							l.add(fmt.Sprint("closed", gate.CloseNow()))
						}
					})), effect.StartImmediately))
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
				gate := effect.MakeLatch(false)
				wait := func(n int) *effect.Fiber[effect.Unit] {
					return do.Await(effect.ForkChild(gate.Await().AndThen(l.note(fmt.Sprint("w", n))), effect.StartImmediately))
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
				d := do.Await(effect.NewDeferred[int]())
				out := fmt.Sprint(
					do.Await(d.FailSync(func() error { l.add("fn1"); return portA{} })),
					do.Await(d.Sync(func() int { l.add("fn2"); return 1 })),
					do.Await(d.DieSync(func() any { l.add("fn3"); return 1 })),
					do.Await(d.FailCauseSync(func() *scope.Cause { l.add("fn4"); return scope.CauseDie("x") })),
					do.Await(d.InterruptWith(3)))
				e := do.Await(effect.NewDeferred[int]())
				do.Await(e.InterruptWith(3))
				x := do.Await(effect.Exit(e.Await()))
				return fmt.Sprint(out, " ", do.Await(portExited(d.Await())), " ", x.Cause().Interruptors())
			})
		}},
	})
}

func TestPortingCollecting(t *testing.T) {
	numbers := []int{3, 1, 2}
	runPortingCases(t, []portingCase{
		{"partition", "+p30; +p11; -p11!Fail(A); +p22; -p30=3; -p22=2; =[3 2]|[A]", func(l *portLog) effect.Effect[string] {
			return effect.Partition(numbers, func(n, i int) effect.Effect[int] {
				e := effect.Succeed(n)
				if n == 1 {
					e = effect.Fail[int](portA{})
				}
				return portItem(l, fmt.Sprintf("p%d%d", n, i), n*10, e)
			}, 2).Map(func(p effect.Partitioned[int]) string { return fmt.Sprintf("%v|%v", p.Passes, p.Fails) })
		}},
		{"partitionDie", "+p1; -p1=1; +p2; -p2!Die(d),Fail(A); !Die(d),Die(A)", func(l *portLog) effect.Effect[string] {
			return portShown(effect.Partition([]int{1, 2, 3}, func(n, _ int) effect.Effect[int] {
				e := effect.Succeed(n)
				if n == 2 {
					e = portDefect[int]()
				}
				return portItem(l, fmt.Sprint("p", n), 0, e)
			}, effect.One))
		}},
		{"validate", "+v3; +v1; +v2; -v1!Fail(A); -v2=2; -v3!Fail(B); !Fail([B A])", func(l *portLog) effect.Effect[string] {
			return portShown(effect.Validate(numbers, func(n, _ int) effect.Effect[int] {
				e := effect.Succeed(n)
				switch n {
				case 1:
					e = effect.Fail[int](portA{})
				case 3:
					e = effect.Fail[int](portB{})
				}
				return portItem(l, fmt.Sprint("v", n), n*10, e)
			}, effect.Unbounded))
		}},
		{"validateOk", "+v3; -v3=6; +v1; -v1=2; +v2; -v2=4; =[6 2 4]", func(l *portLog) effect.Effect[string] {
			return portShown(effect.Validate(numbers, func(n, _ int) effect.Effect[int] {
				return portItem(l, fmt.Sprint("v", n), n*10, effect.Succeed(n*2))
			}, effect.One))
		}},
		{"validateDiscard", "+v3; -v3!Fail(B); +v1; -v1=1; +v2; -v2=2; !Fail([B])", func(l *portLog) effect.Effect[string] {
			return portShown(effect.ValidateDiscard(numbers, func(n, _ int) effect.Effect[int] {
				e := effect.Succeed(n)
				if n == 3 {
					e = effect.Fail[int](portB{})
				}
				return portItem(l, fmt.Sprint("v", n), 0, e)
			}, effect.One))
		}},
		{"validateInterrupted", "+v1; +v2; -v1!Fail(A); +v3; -v2!Interrupt; -v3!Interrupt; =!Interrupt", func(l *portLog) effect.Effect[string] {
			return portInterrupted(15*time.Millisecond, effect.Validate([]int{1, 2, 3}, func(n, _ int) effect.Effect[int] {
				return portItem(l, fmt.Sprint("v", n), n*10, effect.Fail[int](portA{}))
			}, 2))
		}},
		{"reduce", "+r1010; -r1010=11; +r1121; -r1121=13; +r1332; -r1332=16; =16", func(l *portLog) effect.Effect[string] {
			return portShown(effect.Reduce([]int{1, 2, 3}, func() int { return 10 }, func(z, n, i int) effect.Effect[int] {
				return portItem(l, fmt.Sprintf("r%d%d%d", z, n, i), n, effect.Succeed(z+n))
			}))
		}},
		{"reduceFail", "+r1010; -r1010=11; +r1121; -r1121!Fail(A); !Fail(A)", func(l *portLog) effect.Effect[string] {
			return portShown(effect.Reduce([]int{1, 2, 3}, func() int { return 10 }, func(z, n, i int) effect.Effect[int] {
				e := effect.Succeed(z + n)
				if n == 2 {
					e = effect.Fail[int](portA{})
				}
				return portItem(l, fmt.Sprintf("r%d%d%d", z, n, i), n, e)
			}))
		}},
		{"filter", "+f30; +f11; +f22; -f11=false; -f22=true; -f30=true; =[3 2]", func(l *portLog) effect.Effect[string] {
			return portShown(effect.Filter(numbers, func(n, i int) effect.Effect[bool] {
				return portItem(l, fmt.Sprintf("f%d%d", n, i), n*10, effect.Succeed(n != 1))
			}, 3))
		}},
		{"filterMapEffect", "+f3; +f1; +f2; -f1=None; -f2=Some(4); -f3=Some(6); =[4 6]", func(l *portLog) effect.Effect[string] {
			return portShown(effect.FilterMapEffect(numbers, func(n int) effect.Effect[mo.Option[int]] {
				e := effect.SucceedSome(n * 2)
				if n == 1 {
					e = effect.SucceedNone[int]()
				}
				return portItem(l, fmt.Sprint("f", n), n*10, e)
			}, 3))
		}},
		{"filterMap", "=[6 4]", func(*portLog) effect.Effect[string] {
			return portShown(effect.FilterMap(numbers, func(n int) (int, bool) { return n * 2, n != 1 }))
		}},
		{"findFirst", "+f30; -f30=false; +f11; -f11=true; =Some(1)", func(l *portLog) effect.Effect[string] {
			return portShown(effect.FindFirst(numbers, func(n, i int) effect.Effect[bool] {
				return portItem(l, fmt.Sprintf("f%d%d", n, i), 1, effect.Succeed(n == 1))
			}))
		}},
		{"findFirstNone", "+f30; -f30=false; +f11; -f11=false; +f22; -f22=false; =None", func(l *portLog) effect.Effect[string] {
			return portShown(effect.FindFirst(numbers, func(n, i int) effect.Effect[bool] {
				return portItem(l, fmt.Sprintf("f%d%d", n, i), 0, effect.Succeed(false))
			}))
		}},
		{"findFirstFilter", "+f30; -f30=None; +f11; -f11=Some(one); =Some(one)", func(l *portLog) effect.Effect[string] {
			return portShown(effect.FindFirstFilter(numbers, func(n, i int) effect.Effect[mo.Option[string]] {
				e := effect.SucceedNone[string]()
				if n == 1 {
					e = effect.SucceedSome("one")
				}
				return portItem(l, fmt.Sprintf("f%d%d", n, i), 0, e)
			}))
		}},
		{"head", "!Fail(NoSuchElementError)", func(*portLog) effect.Effect[string] {
			return portJoined(portShown(effect.Head(effect.Succeed([]int{1, 2}))), portShown(effect.Head(effect.Succeed([]int{}))))
		}},
		{"replicate", "+x; +x; -x=x; +x; -x=x; -x=x; =[x x x]", func(l *portLog) effect.Effect[string] {
			return portShown(effect.ReplicateEffect(portNamed(l, "x", 10), 3, 2))
		}},
		{"filterOrFail", "=2 !Fail(NoSuchElementError)", func(*portLog) effect.Effect[string] {
			isTwo := func(n int) bool { return n == 2 }
			return portJoined(portShown(effect.Succeed(2).FilterOrFail(isTwo, nil)), portExited(effect.Succeed(1).FilterOrFail(isTwo, nil)))
		}},
		{"when", "+w; -w=w; =[Some(w) None]", func(l *portLog) effect.Effect[string] {
			return portShown(effect.All([]effect.Effect[mo.Option[string]]{
				effect.When(portNamed(l, "w", 1), effect.Succeed(true)),
				effect.When(portNamed(l, "w", 1), effect.Succeed(false)),
			}, effect.One))
		}},
		{"whenFails", "!Fail(A)", func(l *portLog) effect.Effect[string] {
			return portShown(effect.When(portNamed(l, "w", 1), effect.Fail[bool](portA{})))
		}},
		{"transposeOption", "+o; -o=o; =[None Some(o)]", func(l *portLog) effect.Effect[string] {
			return portShown(effect.All([]effect.Effect[mo.Option[string]]{
				effect.TransposeOption(mo.None[effect.Effect[string]]()),
				effect.TransposeOption(mo.Some(portNamed(l, "o", 1))),
			}, effect.One))
		}},
		{"flatten", "+in; -in=in; =in", func(l *portLog) effect.Effect[string] {
			return effect.Flatten(effect.Succeed(portNamed(l, "in", 1)))
		}},
		{"asVoidAll", "=!Fail(A),Die(d),Fail(A) ={}", func(*portLog) effect.Effect[string] {
			return effect.Sync(func() string {
				return portExit(effect.ExitAsUnitAll(scope.ExitSucceed(1), scope.ExitFail[int](portA{}), scope.ExitDie[int]("d"), scope.ExitFail[int](portA{}))) +
					" " + portExit(effect.ExitAsUnitAll(scope.ExitSucceed(1)))
			})
		}},
		{"exitMaps", "=!Die(d),Fail(B) !Fail(B) =2", func(*portLog) effect.Effect[string] {
			toB := func(error) error { return portB{} }
			plusOne := func(n int) int { return n + 1 }
			return effect.Sync(func() string {
				return portExits([]scope.Exit[int]{
					scope.ExitFailCause[int](scope.CauseDie("d").Combine(scope.CauseFail(portA{}))).MapBoth(toB, plusOne),
					scope.ExitFail[int](portA{}).MapError(toB),
					scope.ExitSucceed(1).Map(plusOne),
				})
			})
		}},
	})
}

func portInterrupted[A any](d time.Duration, e effect.Effect[A]) effect.Effect[string] {
	return effect.Gen(func(do *effect.Do) string {
		fb := do.Await(effect.ForkChild(e))
		do.Await(effect.Sleep(d))
		do.Await(fb.Interrupt())
		return portExit(do.Await(fb.Await()))
	})
}

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
