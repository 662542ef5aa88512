package effect_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// What fibers share may be shared between runtimes, too: two serial ones, a parallel one,
// and goroutines that belong to none.
func TestSharedBetweenRuntimes(t *testing.T) {
	const rounds = 200
	first, second, parallel := scope.NewSerial(), scope.NewSerial(), scope.NewParallel()
	everywhere := func(t *testing.T, e effect.Effect[effect.Unit]) {
		t.Helper()
		var all sync.WaitGroup
		for _, rt := range []scope.LiveRuntime{first, second, parallel} {
			for range 3 {
				all.Go(func() {
					if exit := effect.RunExitOn(context.Background(), rt, e); exit.Cause() != nil {
						t.Errorf("%T: %v", rt, exit)
					}
				})
			}
		}
		all.Wait()
	}
	repeated := func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
		return effect.GenUnit(func(do *effect.Do) {
			for range rounds {
				do.Await(e)
			}
		})
	}
	t.Run("Semaphore", func(t *testing.T) {
		turn := effect.NewSemaphore(2)
		var inside atomic.Int64
		everywhere(t, repeated(turn.WithPermits(1, effect.SyncUnit(func() {
			if inside.Add(1) > 2 {
				t.Error("more than two have a permit")
			}
		}).AndThen(effect.YieldNow()).Ensuring(effect.SyncUnit(func() { inside.Add(-1) })))))
		if turn.Free() != 2 {
			t.Errorf("%d are free", turn.Free())
		}
	})
	t.Run("Queue", func(t *testing.T) {
		queue, _ := effect.RunExitOn(context.Background(), first, effect.BoundedQueue[int](2)).Value()
		var sum atomic.Int64
		everywhere(t, repeated(queue.Offer(1).AndThen(queue.Take()).FlatMap(func(n int) effect.Effect[effect.Unit] {
			sum.Add(int64(n))
			return effect.Void()
		})))
		if sum.Load() != 9*rounds || queue.Len() != 0 {
			t.Errorf("took %d, %d are left", sum.Load(), queue.Len())
		}
	})
	t.Run("Deferred", func(t *testing.T) {
		for range rounds {
			d := effect.NewDeferred[int]()
			var completed atomic.Int64
			everywhere(t, effect.AllDiscard([]effect.Effect[effect.Unit]{
				d.Await().AsUnit(),
				d.Succeed(1).FlatMap(func(first bool) effect.Effect[effect.Unit] {
					if first {
						completed.Add(1)
					}
					return effect.Void()
				}),
			}, effect.Unbounded))
			if completed.Load() != 1 {
				t.Errorf("completed %d times", completed.Load())
			}
		}
	})
	t.Run("PubSub", func(t *testing.T) {
		hub, _ := effect.RunExitOn(context.Background(), second, effect.UnboundedPubSub[int]()).Value()
		everywhere(t, effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			subscription := do.Await(hub.Subscribe())
			do.Await(repeated(hub.Publish(1).AndThen(subscription.Take()).AsUnit()))
		})))
	})
	t.Run("Latch", func(t *testing.T) {
		gate := effect.NewLatch(false)
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-done:
					return
				default:
					gate.OpenNow()
					gate.CloseNow()
				}
			}
		}()
		everywhere(t, repeated(gate.Await()))
		close(done)
	})
}
