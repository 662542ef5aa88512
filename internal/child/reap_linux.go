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

// Pipes starts any command, with pipes to its standard input and from its standard
// output, with which standard error goes unless it is set, and kills and reaps it when
// the test ends. Start does that for its own.
func Pipes(t testing.TB, cmd *exec.Cmd) (in io.Writer, out io.Reader) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Stderr == nil {
		cmd.Stderr = cmd.Stdout
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	unreaped.Add(1)
	t.Cleanup(func() {
		defer unreaped.Done()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return stdin, out
}
