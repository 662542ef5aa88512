package child

import (
	"io"
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// unreaped counts the processes that are not reaped yet.
var unreaped sync.WaitGroup

// Wait waits until each child is reaped. It is for TestMain, after the tests: a child
// ends when its test does.
func Wait() { unreaped.Wait() }

// Reap kills a command that was started, and reaps it, when its test ends. in is the
// pipe to its standard input. Start does that for its own.
func Reap(t testing.TB, cmd *exec.Cmd, in io.Closer) {
	unreaped.Add(1)
	t.Cleanup(func() {
		defer unreaped.Done()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}
