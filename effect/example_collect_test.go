package effect_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Four items, two at a time; the results keep the items' order.
func ExampleForEach() {
	fetch := func(id, _ int) effect.Effect[string] {
		return effect.Sleep(time.Duration(id) * time.Second).As("item " + strconv.Itoa(id))
	}
	program := effect.ForEach([]int{4, 1, 1, 1}, fetch, 2)
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet(), "after", out.Now)
	// Output: Success([item 4 item 1 item 1 item 1]) after 4s
}

// The first failure interrupts what runs, and what has not begun does not.
func ExampleForEach_failure() {
	step := func(name string, i int) effect.Effect[string] {
		return effect.Gen(func(do *effect.Do) string {
			fmt.Println(name, "begins")
			do.Await(effect.Sleep(time.Duration(i+1) * time.Second))
			if name == "b" {
				do.Fail(errors.New("b failed"))
			}
			return name
		}).OnInterrupt(func([]scope.FiberID) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { fmt.Println(name, "interrupted") })
		})
	}
	program := effect.ForEach([]string{"a", "b", "c", "d"}, step, 2)
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet())
	// Output:
	// a begins
	// b begins
	// c begins
	// c interrupted
	// Failure(Cause(Fail(b failed)))
}

// Validate looks at every item and tells all failures at once.
func ExampleValidate() {
	number := func(text string, _ int) effect.Effect[int] {
		return effect.Try(func() (int, error) { return strconv.Atoi(text) })
	}
	_, err := effect.Run(context.Background(), effect.Validate([]string{"1", "two", "3", "four"}, number, effect.One))
	fmt.Println(err)
	// Output:
	// strconv.Atoi: parsing "two": invalid syntax
	// strconv.Atoi: parsing "four": invalid syntax
}
