//go:build linux

package processlock_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/rivus/tether/processlock"
)

// K9: checks in a loop never make a free lock refuse, nor see a held one free.
func TestK9_ChecksDisturbNobody(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		mustRelease(t, acquire(t, path, options...)) // so that it exists
		var checkers []*process
		for range 8 {
			checkers = append(checkers, start(t, nil))
		}
		const repeat = 60
		check := command{Do: "isheld", Path: path, File: file, Repeat: repeat}
		for range rounds(20) {
			for _, c := range checkers {
				c.Tell(check)
			}
			// Free as far as holders go: each attempt must succeed.
			for range 20 {
				mustRelease(t, acquire(t, path, options...))
			}
			for _, c := range checkers {
				if r := c.Hear(); !r.OK {
					t.Fatalf("%+v", r)
				}
			}
		}
		lock := acquire(t, path, options...)
		for _, c := range checkers {
			c.Tell(check)
		}
		for _, c := range checkers {
			if r := c.Hear(); !r.OK || r.Holder != repeat {
				t.Fatalf("seen held %d times of %d: %+v", r.Holder, repeat, r)
			}
		}
		mustRelease(t, lock)
		for _, c := range checkers {
			c.Tell(check)
		}
		for _, c := range checkers {
			if r := c.Hear(); !r.OK || r.Holder != 0 {
				t.Fatalf("checks saw each other as a holder %d times: %+v", r.Holder, r)
			}
		}
	})
}

// K9: a check whose whole time falls into a time in which the lock was held, or free,
// says so, whatever else goes on.
func TestK9_ChecksSeeWhatIs(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		var all sync.WaitGroup
		batches := make(chan []look)
		for range 8 {
			checker := start(t, nil)
			all.Go(func() {
				for range rounds(100) {
					r := checker.Do(command{Do: "watch", Path: path, File: file, Repeat: 10})
					if !r.OK {
						t.Errorf("%+v", r)
					}
					batches <- r.Looks
				}
			})
		}
		go func() { all.Wait(); close(batches) }()
		// truth has the times in which the lock was surely held, or surely free: each
		// lasts until some batches have come in.
		var truth, looks []look
		going := true
		hear := func() {
			for range 4 {
				var batch []look
				batch, going = <-batches
				looks = append(looks, batch...)
			}
		}
		for going {
			free := monotonic()
			hear()
			truth = append(truth, look{free, monotonic(), false})
			lock := acquire(t, path, options...)
			held := monotonic()
			hear()
			truth = append(truth, look{held, monotonic(), true})
			mustRelease(t, lock)
		}
		sure := map[bool]int{}
		for _, l := range looks {
			// The last that began before the look did.
			i, _ := slices.BinarySearchFunc(truth, l.Begin+1, func(is look, at int64) int { return int(is.Begin - at) })
			if i == 0 || truth[i-1].End < l.End {
				continue
			}
			if sure[l.Held]++; truth[i-1].Held != l.Held {
				t.Fatalf("held %t, seen %t", truth[i-1].Held, l.Held)
			}
		}
		least := len(looks) / 10
		if raced { // few rounds, and slow ones: the share varies more
			least /= 5
		}
		if sure[true] < least || sure[false] < least {
			t.Error("it tested little")
		}
		t.Logf("%d checks: %d surely held, %d surely free", len(looks), sure[true], sure[false])
	})
}
