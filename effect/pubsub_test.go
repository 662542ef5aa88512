package effect_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Every subscriber of a bounded pubsub gets every message, each publisher's in
// order, while one subscriber comes and goes.
func TestPubSubParallel(t *testing.T) {
	const publishers, each, subscribers = 3, 40, 3
	mustRun(t, effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		p := do.Await(effect.BoundedPubSub[int](2))
		var readers []*effect.Fiber[[]int]
		for range subscribers {
			s := do.Await(p.Subscribe())
			read := effect.Gen(func(do *effect.Do) []int {
				var got []int
				for len(got) < publishers*each {
					switch len(got) % 3 {
					case 0:
						got = append(got, do.Await(s.TakeAll())...)
					case 1:
						got = append(got, do.Await(s.Take()))
					default:
						got = append(got, do.Await(s.TakeBetween(1, 2))...)
					}
				}
				return got
			})
			readers = append(readers, do.Await(effect.ForkChild(read)))
		}
		fleeting := effect.Scoped(p.Subscribe().FlatMap(func(s *effect.Subscription[int]) effect.Effect[int] {
			return s.Take().Race(effect.YieldNow().As(0))
		})).Forever()
		passing := do.Await(effect.ForkChild(fleeting))
		var publish []effect.Effect[effect.Unit]
		for n := range publishers {
			publish = append(publish, effect.ForEachDiscard(make([]int, each/2), func(_, i int) effect.Effect[bool] {
				v := n*each + 2*i
				if i%2 == 0 {
					return p.PublishAll([]int{v, v + 1})
				}
				return p.Publish(v).AndThen(p.Publish(v + 1))
			}, effect.One))
		}
		do.Await(effect.AllDiscard(publish, effect.Unbounded))
		for i, fb := range readers {
			got := do.Await(fb.Join())
			for n := range publishers {
				var from []int
				for _, v := range got {
					if v/each == n {
						from = append(from, v)
					}
				}
				if len(from) != each || !slices.IsSorted(from) {
					t.Errorf("subscriber %d has %d messages of publisher %d: %v", i, len(from), n, from)
				}
			}
		}
		do.Await(passing.Interrupt())
		if n := p.Len(); n != 0 {
			t.Errorf("%d messages are left that all have read", n)
		}
	})))
}

// Several fibers take from one subscription while some are interrupted: every
// message is taken by one of them or still there.
func TestSubscriptionTakersInterrupted(t *testing.T) {
	const n = 60
	mustRun(t, effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		p := do.Await(effect.UnboundedPubSub[int]())
		s := do.Await(p.Subscribe())
		fibers := make([]*effect.Fiber[int], n)
		for i := range fibers {
			fibers[i] = do.Await(effect.ForkChild(s.Take(), effect.StartImmediately()))
		}
		publish := do.Await(effect.ForkChild(effect.ForEachDiscard(make([]int, n), func(_, i int) effect.Effect[bool] {
			return p.Publish(i)
		}, effect.One)))
		for i := 0; i < n; i += 2 {
			fibers[i].InterruptNow(0)
		}
		do.Await(publish.Join())
		var got []int
		for i, fb := range fibers {
			exit := do.Await(fb.Await())
			if v, ok := exit.Value(); ok {
				got = append(got, v)
			} else if i%2 == 1 {
				t.Errorf("taker %d: %v", i, exit)
			}
		}
		got = append(got, do.Await(s.TakeUpTo(n))...)
		slices.Sort(got)
		for i := 1; i < len(got); i++ {
			if got[i] == got[i-1] {
				t.Errorf("message %d was taken twice", got[i])
			}
		}
		// One that is interrupted in the very last step of its take may lose it.
		if len(got) > n || len(got) < n/2 {
			t.Errorf("%d messages of %d", len(got), n)
		}
	})))
}

// Shutdown interrupts who waits; a subscription's end frees what only it had
// still to read.
func TestPubSubEnds(t *testing.T) {
	program := effect.Scoped(effect.Gen(func(do *effect.Do) string {
		p := do.Await(effect.BoundedPubSub[int](1))
		own := do.Await(effect.MakeScope(scope.Sequential))
		do.Await(p.Subscribe().ProvideScope(own))
		s := do.Await(p.Subscribe())
		do.Await(p.Publish(1))
		second := do.Await(effect.ForkChild(p.Publish(2), effect.StartImmediately()))
		one := do.Await(s.Take())
		do.Await(effect.CloseScope(own, scope.ExitSucceed(0)))
		ok := do.Await(second.Join())
		two := do.Await(s.Take())
		waits := do.Await(effect.ForkChild(s.Take(), effect.StartImmediately()))
		downs := do.Await(effect.ForkChild(p.AwaitShutdown(), effect.StartImmediately()))
		do.Await(p.Shutdown())
		do.Await(downs.Join())
		exit := do.Await(waits.Await())
		_, open := s.RemainingNow()
		return fmt.Sprint(one, ok, two, exit.Cause().HasInterruptsOnly(), open, p.WasShutDown(), p.PublishNow(3), p.Len())
	}))
	onBoth(t, program, func(t *testing.T, exit scope.Exit[string]) {
		succeeds(t, exit)
		if got, _ := exit.Value(); got != "1 true 2 true false true false 0" {
			t.Fatal(got)
		}
	})
}

func TestPubSubNeedsRoom(t *testing.T) {
	onBoth(t, effect.BoundedPubSub[int](0), func(t *testing.T, exit scope.Exit[*effect.PubSub[int]]) {
		if !exit.Cause().HasDies() {
			t.Fatal(exit)
		}
	})
}
