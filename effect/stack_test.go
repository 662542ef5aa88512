//go:build !race

package effect_test

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/effect"
)

// A fiber that waits has room on the first stack of its goroutine, 2 KB: one that
// outgrows it costs twice the memory. (The race detector's frames are larger.) It is
// measured in a process of its own, in which no other test's stacks come and go, and
// in which Go does not adapt the first stack's size to what it finds.
func TestAWaitingFiberFitsTheFirstStack(t *testing.T) {
	const alone = "TETHER_ALONE"
	if os.Getenv(alone) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1", "GODEBUG=adaptivestackstart=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const count = 5_000
	limit := 3_000
	if runtime.GOARCH != "amd64" {
		limit = 4_500 // frames are larger: 3.3 KB were seen on arm64
	}
	// A collection has the fibers help it, which is deep.
	debug.SetGCPercent(-1)
	runtime.GC()
	mustRun(t, effect.GenUnit(func(do *effect.Do) {
		var woken atomic.Int64
		first, all, never := effect.NewDeferred[effect.Unit](), effect.NewDeferred[effect.Unit](), effect.NewDeferred[effect.Unit]()
		work := first.Await().FlatMap(func(effect.Unit) effect.Effect[effect.Unit] {
			if woken.Add(1) == count {
				all.CompleteNow(effect.Succeed(effect.Unit{}))
			}
			return never.Await()
		})
		before := stacksInUse()
		for range count {
			do.Await(effect.ForkChild(work))
		}
		do.Await(first.Succeed(effect.Unit{}))
		do.Await(all.Await())
		if each := (stacksInUse() - before) / count; each > limit {
			t.Errorf("a fiber that waits takes %d bytes of stack, more than %d", each, limit)
		}
	}))
}

func stacksInUse() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.StackInuse)
}
