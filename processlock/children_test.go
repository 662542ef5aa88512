//go:build linux

package processlock_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rivus/tether/processlock"
)

// K10: children that start while the lock is held do not keep it alive.
func TestK10_ChildDoesNotKeepIt(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		lock := acquire(t, path, options...)
		child := exec.Command("cat")
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close(); _ = child.Wait() }()
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", child.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if to, _ := os.Readlink(l); to == path {
				t.Fatal("the child has inherited the lock's descriptor")
			}
		}
		mustRelease(t, lock)
		if r := start(t, nil).Do(command{Do: "acquire", Path: path, File: file}); !r.OK {
			t.Fatalf("%+v", r)
		}
	})
}

// K10: a storm of short children while locks are taken and given back: none inherits
// the descriptor, whenever it was forked.
func TestK10_ForkStorm(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		other := start(t, nil)
		var storm sync.WaitGroup
		over := make(chan struct{})
		storm.Go(func() {
			defer close(over)
			for range rounds(200) {
				out, err := exec.Command("ls", "-l", "/proc/self/fd/").CombinedOutput()
				if err != nil && len(out) == 0 {
					t.Error(err)
				}
				if strings.Contains(string(out), path) {
					t.Errorf("a child has inherited the lock's descriptor:\n%s", out)
				}
			}
		})
		for going := true; going; {
			select {
			case <-over:
				going = false
			default:
			}
			lock := acquire(t, path, options...)
			if r := other.Do(command{Do: "acquire", Path: path, File: file}); !r.Held {
				t.Fatalf("held, and given to another: %+v", r)
			}
			mustRelease(t, lock)
			if r := other.Do(command{Do: "acquire", Path: path, File: file}); !r.OK {
				t.Fatalf("released, and still refused: %+v", r)
			}
			other.must(command{Do: "release", Path: path})
		}
		storm.Wait()
	})
}
