package lease

import (
	"io/fs"
	"sync"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// News of releases between processes is the removal of a file. Who waits for a key
// creates the key's wake file and has the kernel tell of its removal, which costs
// nothing until it happens; who releases removes it, which costs one system call
// when nobody waits. So the file is there only from a wait to the next release.
// Where files cannot be watched, or a releaser knows nothing of all this, Retry is
// what is left.

// wakeSuffix ends the name of a wake file.
const wakeSuffix = "wake"

// announceRelease tells other processes of a release. It is a hint, so that nothing
// comes of its failure.
func announceRelease(f *scope.Fiber, p *platform.Platform, path string) {
	_, _ = offload(f, func() (effect.Unit, error) { return effect.Unit{}, p.FS.Remove(path) })
}

// watchWake has changed called after each removal of the wake file at path, until
// the scope at hand closes. On a deterministic runtime, where nothing may come from
// outside, it does nothing.
func watchWake(p *platform.Platform, path string, changed func()) effect.Effect[effect.Unit] {
	return effect.AcquireRelease(
		effect.Direct(func(f *scope.Fiber) (*wakeWatch, *scope.Cause) {
			w := &wakeWatch{fs: p.FS, path: path, changed: changed}
			if _, virtual := f.Runtime().(*scope.Deterministic); virtual || !canWatchFiles {
				return w, nil
			}
			missed, c := offload(f, func() (bool, error) { return w.arm(), nil })
			if missed {
				changed()
			}
			return w, c
		}),
		func(w *wakeWatch, _ scope.Exit[any]) effect.Effect[effect.Unit] { return effect.SyncUnit(w.end) }).AsUnit()
}

// wakeWatch is one watch for one key.
type wakeWatch struct {
	fs      platform.FS
	path    string
	changed func()

	// mu is held while the watch is set, so that an event that comes at once finds
	// it complete.
	mu    sync.Mutex
	ended bool
	stop  func() // nil: nothing is watched
}

// arm sets the watch, which is good for one event. missed: a removal came before it
// was set.
func (w *wakeWatch) arm() (missed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range 3 {
		if w.ended {
			return false
		}
		if _, err := w.fs.CreateExclusive(w.path, nil); err != nil {
			return false
		}
		stop, err := watchFileOnce(w.path, w.heard)
		if err == nil {
			w.stop = stop
			return missed
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		missed = true
	}
	return missed
}

// heard is the event. It sets the watch before it tells, so that a release during
// the look that follows is news, too.
func (w *wakeWatch) heard() {
	w.arm()
	w.mu.Lock()
	ended := w.ended
	w.mu.Unlock()
	if !ended {
		w.changed()
	}
}

func (w *wakeWatch) end() {
	w.mu.Lock()
	w.ended = true
	stop := w.stop
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}
