package effect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

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
