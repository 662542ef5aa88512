package effect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

func TestSmoke(t *testing.T) {
	p := effect.Scoped(effect.Gen(func(do *effect.Do) int {
		r := do.Await(effect.AcquireRelease(effect.Succeed(2), func(int, scope.Exit[any]) effect.Effect[effect.Unit] {
			fmt.Println("release")
			return effect.Void()
		}))
		fb := do.Await(effect.ForkChild(effect.Sleep(10 * time.Millisecond).As(40)))
		return r + do.Await(fb.Join())
	}))
	v, err := effect.Run(context.Background(), p)
	fmt.Println(v, err)
	o := effect.RunDeterministic(p, effect.DeterministicOptions{})
	fmt.Println(o.Exit, o.Now, o.Stuck)
	o2 := effect.RunDeterministic(effect.Never[int](), effect.DeterministicOptions{})
	fmt.Println(o2.Exit, o2.Report)
	q := effect.Fail[int](errors.New("x")).Timeout(time.Second)
	_, err = effect.Run(context.Background(), q)
	fmt.Println(err)
	q = effect.Never[int]().Timeout(time.Second)
	fmt.Println(effect.RunDeterministic(q, effect.DeterministicOptions{}).Exit)
}

func deep(n int) effect.Effect[int] {
	e := effect.Succeed(0)
	for range n {
		e = e.FlatMap(func(i int) effect.Effect[int] { return effect.Succeed(i + 1) })
	}
	return e
}

func TestDeep(t *testing.T) {
	start := time.Now()
	v, err := effect.Run(context.Background(), deep(1_000_000))
	fmt.Println(v, err, time.Since(start))
	o := effect.RunDeterministic(deep(100_000), effect.DeterministicOptions{})
	fmt.Println(o.Exit)
	v, err = effect.Run(context.Background(), deep(5_000_000))
	fmt.Println(v, err, time.Since(start))
	var loop func(n int) effect.Effect[int]
	loop = func(n int) effect.Effect[int] {
		if n == 0 {
			return effect.Succeed(7)
		}
		return effect.Sync(func() int { return n - 1 }).FlatMap(loop)
	}
	start = time.Now()
	v, err = effect.Run(context.Background(), loop(10_000_000))
	fmt.Println(v, err, time.Since(start))
}
