package effect_test

import (
	"context"
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
)

// OutOfStock is a failure that callers may want to tell from others.
type OutOfStock struct{ Item string }

func (e *OutOfStock) Error() string { return "out of stock: " + e.Item }

// reserve gives the price of an item, or fails with *OutOfStock.
func reserve(item string) effect.Effect[int] {
	prices := map[string]int{"tea": 4, "milk": 2}
	return effect.Suspend(func() effect.Effect[int] {
		price, ok := prices[item]
		if !ok {
			return effect.Fail[int](&OutOfStock{item})
		}
		return effect.Succeed(price)
	})
}

// total is the price of a basket. Without milk there is oat milk, for 3.
func total(basket ...string) effect.Effect[int] {
	return effect.Gen(func(do *effect.Do) int {
		sum := 0
		for _, item := range basket {
			sum += do.Await(reserve(item).CatchTag(func(err *OutOfStock) effect.Effect[int] {
				if err.Item == "oat milk" {
					return effect.Succeed(3)
				}
				return effect.Fail[int](err)
			}))
		}
		return sum
	})
}

// A program is a value: it does nothing until it is run. Failures are errors,
// which leave Gen by themselves and which handlers pick by type.
func Example() {
	ctx := context.Background()
	fmt.Println(effect.Run(ctx, total("tea", "oat milk")))

	_, err := effect.Run(ctx, total("tea", "cake", "milk"))
	if missing, ok := errors.AsType[*OutOfStock](err); ok {
		fmt.Println("no", missing.Item)
	}
	// Output:
	// 7 <nil>
	// no cake
}
