package effect_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/samber/mo"
)

// draws takes some numbers of every kind.
func draws() effect.Effect[string] {
	return effect.Gen(func(do *effect.Do) string {
		var out []any
		for range 3 {
			out = append(out, do.Await(effect.RandomNext()), do.Await(effect.RandomNextBoolean()), do.Await(effect.RandomNextInt()),
				do.Await(effect.RandomNextBetween(2, 3)), do.Await(effect.RandomNextIntBetween(-5, 5)),
				do.Await(effect.RandomShuffle([]int{1, 2, 3, 4})), do.Await(effect.RandomChoice([]string{"a", "b", "c"})))
		}
		return fmt.Sprint(out...)
	})
}

// A deterministic run draws what its seed says, a seeded effect what its own.
func TestRandomIsSeeded(t *testing.T) {
	run := func(e effect.Effect[string], seed uint64) string {
		v, err := effect.RunDeterministic(e, effect.DeterministicConfig{Seed: seed}).Exit.MustGet().Get()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if first, second := run(draws(), 1), run(draws(), 1); first != second {
		t.Error("one seed, two results")
	}
	if run(draws(), 1) == run(draws(), 2) {
		t.Error("two seeds, one result")
	}
	seeded := draws().WithRandomSeed(7)
	twice := effect.ZipWith(seeded, seeded, func(a, b string) string {
		if a != b {
			t.Error("the second run did not start afresh")
		}
		return a
	})
	parallel, err := effect.Run(context.Background(), seeded)
	if err != nil || run(twice, 1) != parallel || run(seeded, 2) != parallel {
		t.Error("a seeded effect draws other numbers elsewhere")
	}
}

func TestRandomBounds(t *testing.T) {
	_, err := effect.Run(context.Background(), effect.GenUnit(func(do *effect.Do) {
		seen := map[int]bool{}
		for range 500 {
			if v := do.Await(effect.RandomNext()); v < 0 || v >= 1 {
				t.Errorf("next is %v", v)
			}
			if v := do.Await(effect.RandomNextBetween(-2, -1)); v < -2 || v >= -1 {
				t.Errorf("between is %v", v)
			}
			seen[do.Await(effect.RandomNextIntBetween(3, 5))] = true
		}
		if len(seen) != 3 || !seen[3] || !seen[5] {
			t.Errorf("seen %v", seen)
		}
		do.Await(effect.RandomNextIntBetween(math.MinInt, math.MaxInt))
		if v := do.Await(effect.RandomNextIntBetween(9, 9)); v != 9 {
			t.Errorf("got %d", v)
		}
		list := []int{1, 2, 3}
		shuffled := do.Await(effect.RandomShuffle(list))
		slices.Sort(shuffled)
		if !slices.Equal(list, []int{1, 2, 3}) || !slices.Equal(shuffled, list) {
			t.Errorf("%v became %v", list, shuffled)
		}
	}))
	if err != nil {
		t.Error(err)
	}
	_, err = effect.Run(context.Background(), effect.RandomChoice([]int{}))
	if _, ok := errors.AsType[*effect.NoSuchElement](err); !ok {
		t.Errorf("choice of nothing: %v", err)
	}
	if got := endOf(effect.RandomNextIntBetween(2, 1)); got != "Die effect: RandomNextIntBetween with high below low" {
		t.Error(got)
	}
}

// One jittered schedule and one seed serve many fibers at a time.
func TestJitteredInParallel(t *testing.T) {
	s := effect.ScheduleExponential(time.Microsecond, 2).Jittered().UpTo(effect.ScheduleLimit{Times: mo.Some(3)})
	works := make([]effect.Effect[time.Duration], 16)
	for i := range works {
		works[i] = effect.Void().Repeat(s)
	}
	v, err := effect.Run(context.Background(), effect.All(works, effect.Unbounded).WithRandomSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, last := range v {
		if last != 8*time.Microsecond {
			t.Errorf("the last output is %v", last)
		}
	}
}
