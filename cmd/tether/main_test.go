package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// toolVar makes the test program the tool itself, with all its processes.
const toolVar = "TETHER_TEST_TOOL"

func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case name == "counter":
		os.Exit(count())
	case name == "tether", os.Getenv(toolVar) != "":
		os.Exit(Main(os.Args))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		for _, f := range atEnd {
			f()
		}
		os.Exit(status)
	}))
}

// atEnd is called when all tests have ended.
var atEnd []func()

// count is a program that a test runs as counter.
var count func() int

// tool is a process of the tool.
type tool struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	err   *bytes.Buffer
	ended bool
}

func start(t *testing.T, dir string, args ...string) *tool {
	t.Helper()
	p := prepare(t, dir, args...)
	p.begin()
	return p
}

func prepare(t *testing.T, dir string, args ...string) *tool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &tool{t: t, cmd: exec.Command(self, args...), err: new(bytes.Buffer)}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), toolVar+"=1")
	p.cmd.Stderr = p.err
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	return p
}

func (p *tool) begin() {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if !p.ended {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
}

// line is the next line of the output.
func (p *tool) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v after %q; stderr: %s", err, line, p.err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *tool) expect(want string) {
	p.t.Helper()
	if got := p.line(); got != want {
		p.t.Fatalf("got %q, not %q; stderr: %s", got, want, p.err)
	}
}

// rest reads until nobody has the output open: the tool, its keeper, CMD and whatever
// CMD started.
func (p *tool) rest() string {
	p.t.Helper()
	all, err := io.ReadAll(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(all)
}

// wait gives the exit status, or the negative number of the signal that ended the tool.
func (p *tool) wait() int {
	_ = p.cmd.Wait()
	p.ended = true
	if by, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && by.Signaled() {
		return -int(by.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// status reads what is left and gives the exit status.
func (p *tool) status() (output string, status int) {
	p.t.Helper()
	output = p.rest()
	return output, p.wait()
}

// call runs the tool to its end.
func call(t *testing.T, dir string, args ...string) (out, errOut string, status int) {
	t.Helper()
	p := start(t, dir, args...)
	_ = p.in.Close()
	out, status = p.status()
	return out, p.err.String(), status
}
