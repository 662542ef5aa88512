package effect_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rivus/tether/effect"
)

// do.Await runs an effect, do.Try takes a Go pair, do.Fail fails; whichever
// fails ends the function there, and its defers run.
func ExampleGen() {
	ratio := func(a, b effect.Effect[string]) effect.Effect[int] {
		return effect.Gen(func(do *effect.Do) int {
			defer fmt.Println("left")
			x := do.Try(strconv.Atoi(do.Await(a)))
			y := do.Try(strconv.Atoi(do.Await(b)))
			if y == 0 {
				do.Fail(errors.New("division by zero"))
			}
			return x / y
		})
	}
	for _, text := range []string{"3", "0", "three"} {
		fmt.Println(effect.Run(context.Background(), ratio(effect.Succeed("12"), effect.Succeed(text))))
	}
	// Output:
	// left
	// 4 <nil>
	// left
	// 0 division by zero
	// left
	// 0 strconv.Atoi: parsing "three": invalid syntax
}

// The handler of Catch sees every expected failure, and no panic: that is a
// defect, which only CatchCause and CatchDefect see.
func ExampleEffect_Catch() {
	parse := func(text string) effect.Effect[int] {
		return effect.Try(func() (int, error) {
			if text == "" {
				panic("nothing to parse")
			}
			return strconv.Atoi(text)
		}).Catch(func(err error) effect.Effect[int] {
			fmt.Println("handled:", err)
			return effect.Succeed(-1)
		})
	}
	fmt.Println(effect.RunExit(context.Background(), parse("x")))
	fmt.Println(effect.RunExit(context.Background(), parse("")))
	// Output:
	// handled: strconv.Atoi: parsing "x": invalid syntax
	// Success(-1)
	// Failure(Cause(Die(nothing to parse)))
}

// The handler's argument says which failures it takes; they may be wrapped.
func ExampleEffect_CatchTag() {
	port := func(text string) effect.Effect[int] {
		return effect.Try(func() (int, error) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return 0, fmt.Errorf("reading the port: %w", err)
			}
			if n > 65535 {
				return 0, fmt.Errorf("%d is no port", n)
			}
			return n, nil
		}).CatchTag(func(*strconv.NumError) effect.Effect[int] { return effect.Succeed(8080) })
	}
	for _, text := range []string{"443", "https", "70000"} {
		fmt.Println(effect.Run(context.Background(), port(text)))
	}
	// Output:
	// 443 <nil>
	// 8080 <nil>
	// 0 70000 is no port
}

// Each case takes a type of failures; what none takes passes.
func ExampleEffect_CatchTags() {
	read := func(text string, wait time.Duration) effect.Effect[int] {
		number := effect.Try(func() (int, error) { return strconv.Atoi(text) })
		return number.Delay(wait).Timeout(time.Second).CatchTags(
			effect.OnTag(func(*strconv.NumError) effect.Effect[int] { return effect.Succeed(-1) }),
			effect.OnTag(func(*effect.TimeoutError) effect.Effect[int] { return effect.Succeed(-2) }),
		)
	}
	all := effect.All([]effect.Effect[int]{read("7", 0), read("seven", 0), read("7", time.Minute)}, effect.One)
	fmt.Println(effect.RunDeterministic(all, effect.DeterministicConfig{}).Exit.MustGet())
	// Output: Success([7 -1 -2])
}
