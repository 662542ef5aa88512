package scope_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// plan is what an item does, by how many were made before it: a start may have the
// same item made again.
type plan struct {
	// panics: the function that makes it does.
	panics bool
	// known: it is an exit.
	known bool
	// before are the numbers that it wakes when it starts, after those that it wakes once
	// it was woken itself. itsOwner interrupts the iteration's fiber instead.
	before, after []int
	// parks: it waits until it is woken or, unless masked, interrupted.
	parks, masked bool
	// fails is a failure, dies a defect, neither a success. cleanup is what an
	// interruption finds beside itself.
	fails, dies, cleanup bool
}

const itsOwner = -1

const plans = 12

func (p plan) exit(k int) *scope.Cause {
	switch {
	case p.fails:
		return scope.CauseFail(fmt.Errorf("fails %d", k))
	case p.dies:
		return scope.CauseDie(fmt.Sprint("dies ", k))
	}
	return nil
}

func (p plan) afterInterruption(k int, c *scope.Cause) *scope.Cause {
	if p.cleanup {
		return scope.CombineFinalizer(c, scope.CauseDie(fmt.Sprint("cleanup ", k)))
	}
	return c
}

func drawPlan(t *rapid.T, k int) plan {
	one := func(n int, label string) bool { return rapid.IntRange(0, n-1).Draw(t, fmt.Sprint(label, k)) == n-1 }
	wakes := rapid.SliceOfN(rapid.IntRange(itsOwner, 7), 0, 3)
	p := plan{
		panics: one(12, "panics"), known: one(6, "known"), parks: !one(3, "ends"), masked: one(4, "masked"),
		cleanup: one(3, "cleanup"),
		before:  wakes.Draw(t, "before"), after: wakes.Draw(t, "after"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "exit") {
	case 4:
		p.fails = true
	case 5:
		p.dies = true
	}
	return p
}

// script is a whole program: an iteration, and what the fiber that started it does then.
type script struct {
	items, limit int
	// inMask: the iteration's fiber is uninterruptible.
	inMask bool
	plans  []plan
	wakes  []int
}

// The fibers' numbers, here as in the kernel.
const (
	idStarter scope.FiberID = 1
	idOwner   scope.FiberID = 2
)

// Each does what its rules say, whatever happens inside its starts: the rules told once
// more, in plain words, give the same story.
func TestEachAgainstItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := script{
			items: rapid.IntRange(1, 6).Draw(t, "items"), limit: rapid.IntRange(2, 4).Draw(t, "limit"),
			inMask: rapid.IntRange(0, 4).Draw(t, "mask") == 4,
			wakes:  rapid.SliceOfN(rapid.IntRange(itsOwner, 8), 0, 12).Draw(t, "wakes"),
		}
		for k := range plans {
			s.plans = append(s.plans, drawPlan(t, k))
		}
		want, got := s.plainly(), s.really()
		if !slices.Equal(want, got) {
			t.Fatalf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	})
}

// really plays s on the deterministic runtime.
func (s script) really() (story []string) {
	note := func(format string, args ...any) { story = append(story, fmt.Sprintf(format, args...)) }
	var owner *scope.Fiber
	gates := map[int]scope.Token{}
	places, succeeded, all := map[int]int{}, map[int]bool{}, false
	wake := func(whom []int) {
		for _, k := range whom {
			if k == itsOwner {
				owner.Interrupt(idStarter)
			} else if gate, parked := gates[k]; parked {
				delete(gates, k)
				gate.Wake()
			}
		}
	}
	run := func(k int, p plan) scope.Body {
		return scope.Func(func(f *scope.Fiber) *scope.Cause {
			note("%d starts", k)
			c := p.exit(k)
			wake(p.before)
			if p.parks {
				entered := false
				if p.masked {
					entered, _ = f.MaskAfter(nil)
				}
				gates[k] = f.Arm()
				parked := f.Block(gates[k], waitForever)
				delete(gates, k)
				if parked.Cause != nil {
					c = p.afterInterruption(k, parked.Cause)
				} else {
					wake(p.after)
				}
				if entered {
					c = f.Unmask(c)
				}
			}
			c = f.NoticeAfter(c)
			succeeded[k] = c == nil
			note("%d ends: %v", k, c)
			return c
		})
	}
	made := 0
	item := func(i int) scope.Item {
		k := made
		made++
		note("item %d is made, number %d", i, k)
		var p plan
		if k < len(s.plans) {
			p = s.plans[k]
		}
		if p.panics {
			panic("item")
		}
		if p.known || k >= len(s.plans) {
			succeeded[k] = p.exit(k) == nil
			return scope.Item{Known: true, Cause: p.exit(k)}
		}
		return scope.Item{Body: run(k, p), Part: new(scope.Part)}
	}
	report := scope.NewDeterministic(scope.DeterministicConfig{}).Run(func(f *scope.Fiber) *scope.Cause {
		owner = new(scope.Fiber)
		mode := scope.StartInterruptible
		if s.inMask {
			mode = scope.StartUninterruptible
		}
		f.ForkInto(owner, scope.Func(func(f *scope.Fiber) *scope.Cause {
			c := f.Guard(func() *scope.Cause {
				return f.Each(s.items, s.limit, item, func(start, at int) { places[start] = at })
			})
			c = withoutStacks(f.NoticeAfter(c))
			note("it ends: %v", c)
			all = c == nil
			return c
		}), scope.ForkConfig{Daemon: true, Immediate: true, Mode: mode})
		wake(s.wakes)
		for len(gates) > 0 {
			wake(sortedKeys(gates))
		}
		return nil
	}, scope.RunConfig{})
	for k := range made {
		if all && succeeded[k] {
			at, moved := places[k]
			if !moved {
				at = k
			}
			note("the result of number %d is at %d", k, at)
		}
	}
	note("%d are stuck", len(report.Stuck))
	return story
}

var waitForever = &scope.Waiting{What: "being woken"}

func sortedKeys[V any](m map[int]V) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// withoutStacks is c with defects as they were raised.
func withoutStacks(c *scope.Cause) *scope.Cause {
	var out *scope.Cause
	for _, r := range c.Reasons() {
		if die, ok := r.(scope.Die); ok {
			die.Panic = nil
			r = die
		}
		out = out.Combine(scope.CauseFromReasons(r))
	}
	return out
}
