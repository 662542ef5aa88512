package effect_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// sharing has two layers that are built side by side: one that acquires, and one that
// uses that, fails, and is built in another way. It gives how many instances of the
// first live once both are there.
func sharing(alive *atomic.Int32) effect.Effect[int32] {
	shared := effect.LayerDiscard(effect.AcquireRelease(
		effect.SyncUnit(func() { alive.Add(1) }),
		func(effect.Unit, scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { alive.Add(-1) })
		}))
	user := func(e effect.Effect[effect.Unit]) effect.Layer { return effect.LayerDiscard(e).Provide(shared) }
	return effect.Sync(alive.Load).Provide(shared,
		user(effect.Fail[effect.Unit](errors.New("no"))).
			CatchCause(func(*scope.Cause) effect.Layer { return user(effect.Void()) }))
}

// F60: users of one layer come and go side by side, and it lives once in one build.
func TestF60_LayerSharedWhileUsersComeAndGo(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	var alive atomic.Int32
	for i := range rounds {
		if v, err := effect.Run(context.Background(), sharing(&alive)); err != nil || v != 1 {
			t.Fatalf("round %d: %d instances, %v", i, v, err)
		}
		if n := alive.Load(); n != 0 {
			t.Fatalf("round %d: %d are left", i, n)
		}
	}
	explored(t, 2000, func() effect.Effect[int32] { return sharing(&alive) }, func(exit scope.Exit[int32], _ effect.RunReport[int32]) error {
		if v, ok := exit.Value(); !ok || v != 1 || alive.Load() != 0 {
			return fmt.Errorf("%v, %d are left", exit, alive.Load())
		}
		return nil
	})
}

// F60: builds with one memo map that begin while others end.
func TestF60_MemoMapOfManyBuilds(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	type instance struct{ open atomic.Bool }
	key := effect.NewService[*instance]("instance")
	layer := key.From(effect.AcquireRelease(
		effect.Sync(func() *instance {
			made := new(instance)
			made.open.Store(true)
			return made
		}),
		func(i *instance, _ scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { i.open.Store(false) })
		}))
	memo := effect.NewMemoMap()
	use := effect.Scoped(effect.Scope().FlatMap(func(s *scope.Scope) effect.Effect[bool] {
		return layer.BuildWith(memo, s).Map(func(env *scope.Env) bool { return key.Value(env).open.Load() })
	}))
	program := effect.GenUnit(func(do *effect.Do) {
		for range rounds {
			for _, open := range do.Await(effect.All(effect.Replicate(use, 4), effect.Unbounded)) {
				if !open {
					do.FailCause(scope.CauseDie("a user got a layer that was closed"))
				}
			}
		}
	})
	if _, err := effect.Run(context.Background(), program); err != nil {
		t.Fatal(err)
	}
}
