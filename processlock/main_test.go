//go:build linux

package processlock_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/internal/leftovers"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		worker()
		return
	}
	leftovers.Verify(m, child.Wait) // each child ends when its test does
}

// process is a worker as its test sees it.
type process struct {
	*child.Process[command, reply]
	t testing.TB
}

// start starts this binary as a worker.
func start(t testing.TB, barrier *os.File) *process {
	t.Helper()
	cmd := child.Self(workerEnv + "=1")
	child.Next(cmd)
	if barrier != nil {
		cmd.ExtraFiles = []*os.File{barrier}
	}
	return started(t, cmd)
}

func started(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	return &process{child.Start[command, reply](t, cmd), t}
}

// Tell and Do see to it that a worker that is another user can use the folder.
func (p *process) Tell(c command) {
	p.t.Helper()
	p.share(c)
	p.Process.Tell(c)
}

func (p *process) Do(c command) reply {
	p.t.Helper()
	p.share(c)
	return p.Process.Do(c)
}

func (p *process) share(c command) {
	p.t.Helper()
	if c.Path != "" {
		child.Share(p.t, filepath.Dir(c.Path))
	}
}

// must is Do for what has to succeed.
func (p *process) must(c command) {
	p.t.Helper()
	if r := p.Do(c); !r.OK {
		p.t.Fatalf("%s: %+v", c.Do, r)
	}
}

// rounds is how often a heavy test repeats: TETHER_ROUNDS times the usual number
// over 100, a tenth under -short. Under the race detector it is a fifth: a round costs
// five to ten times as much there and is to find data races, which show in any order
// of events. Orders that are rare are the plain run's to find.
func rounds(usual int) int {
	n := usual
	if s := os.Getenv("TETHER_ROUNDS"); s != "" {
		if percent, err := strconv.Atoi(s); err == nil {
			n = usual * percent / 100
		}
	} else if testing.Short() {
		n = usual / 10
	} else if raced {
		n = usual / 5
	}
	return max(n, 3)
}

// mechanisms runs f for both.
func mechanisms(t *testing.T, f func(t *testing.T, file bool, options ...processlock.Option)) {
	t.Run("sqlite", func(t *testing.T) { f(t, false) })
	t.Run("lock-file", func(t *testing.T) { f(t, true, processlock.WithoutSQLite()) })
}

func acquire(t testing.TB, path string, options ...processlock.Option) *processlock.Lock {
	t.Helper()
	lock, err := processlock.Acquire(context.Background(), platform.OS(), path, options...).Get()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	return lock
}

func mustRelease(t testing.TB, lock *processlock.Lock) {
	t.Helper()
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func isHeld(t testing.TB, path string, options ...processlock.Option) bool {
	t.Helper()
	held, err := processlock.IsHeld(context.Background(), platform.OS(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// refused takes nothing and gives the *Held.
func refused(t testing.TB, path string, options ...processlock.Option) *processlock.Held {
	t.Helper()
	result := processlock.Acquire(context.Background(), platform.OS(), path, options...)
	held, ok := errors.AsType[*processlock.Held](result.Error())
	if !ok {
		t.Fatalf("want Held, got %v", result)
	}
	return held
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// entries are the names in a directory.
func entries(t testing.TB, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return fmt.Sprint(names)
}
