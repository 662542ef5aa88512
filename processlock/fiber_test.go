//go:build linux

package processlock_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// K5, K7: AcquireOn gives up when its time is over, in line as well as
// between two tries, and leaves the others' turns as they were.
func TestK5_AcquireOnGivesUp(t *testing.T) {
	const most = 90 * time.Second
	take := func(path string, options ...processlock.Option) effect.Effect[*processlock.Lock] {
		return effect.UninterruptibleMask(func(restore effect.Restore) effect.Effect[*processlock.Lock] {
			return effect.Direct(func(f *scope.Fiber) (*processlock.Lock, *scope.Cause) {
				return processlock.AcquireOn(f, restore, f.Clock().Monotonic()+most, platform.OS(), path,
					append(options, processlock.Wait(), processlock.Retry(time.Second))...)
			})
		})
	}
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		refusal := func(holder processlock.Holder) {
			out := effect.RunDeterministic(take(path, options...), effect.DeterministicConfig{})
			held, ok := errors.AsType[*processlock.Held](out.Exit.MustGet().Err())
			if !ok || out.Now != most || held.Path != path || held.Holder.OrEmpty().Nonce != holder.Nonce {
				t.Fatal(out.Exit, out.Now, out.Report)
			}
		}
		// In line behind this process.
		own := acquire(t, path, options...)
		refusal(own.Holder().MustGet())
		mustRelease(t, own)
		// Between tries against another process.
		other := start(t, nil)
		other.must(command{Do: "acquire", Path: path, File: file})
		refusal(refused(t, path, options...).Holder.MustGet())
		other.must(command{Do: "release", Path: path})
		exit := effect.RunExit(context.Background(), take(path, options...))
		lock, ok := exit.Value()
		if !ok {
			t.Fatal(exit)
		}
		mustRelease(t, lock)
		free(t, path, options...)
	})
}
