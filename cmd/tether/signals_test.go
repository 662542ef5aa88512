//go:build unix

package main

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// lateVar names a FIFO: what the supervisor reports is kept until somebody has opened
// that for writing.
const lateVar = "TETHER_TEST_LATE"

func init() {
	if gate := os.Getenv(lateVar); gate != "" && supervising(os.Args) {
		os.Exit(lateReport(gate))
	}
}

// lateReport runs a supervisor whose tool hears late of it.
func lateReport(gate string) int {
	const report = 4
	to, err := unix.FcntlInt(report, unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		panic(err)
	}
	kept, in, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	if err := unix.Dup2(int(in.Fd()), report); err != nil {
		panic(err)
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		_, _ = os.ReadFile(gate)
		_, _ = io.Copy(os.NewFile(uintptr(to), "report"), kept)
	}()
	status := Main(os.Args)
	_ = in.Close()
	_ = unix.Close(report)
	<-told
	return status
}

// A signal that comes when CMD runs already, but before the tool knows it.
func TestASignalAtTheStart(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		out    string
		status int
	}{
		{syscall.SIGINT, "got INT\n", 3},
		{syscall.SIGTERM, "got TERM\n", 4},
		{syscall.SIGHUP, "got HUP\n", 5},
		{syscall.SIGUSR1, "got USR1\n", 6},
	} {
		if signal.Ignored(c.signal) {
			continue // under nohup CMD inherits that, and no shell can trap it
		}
		dir := t.TempDir()
		gate := filepath.Join(dir, "gate")
		if err := unix.Mkfifo(gate, 0o600); err != nil {
			t.Fatal(err)
		}
		p := prepare(t, dir, "run", "--lease", "l.db", "job", "--", "sh", "-c",
			`trap 'echo got INT; exit 3' INT; trap 'echo got TERM; exit 4' TERM; trap 'echo got HUP; exit 5' HUP
trap 'echo got USR1; exit 6' USR1; echo ready; while :; do :; done`)
		p.cmd.Env = append(p.cmd.Env, lateVar+"="+gate)
		p.begin()
		p.expect("ready")
		if err := p.cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		open, err := os.OpenFile(gate, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = open.Close()
		if out, status := p.status(); out != c.out || status != c.status {
			t.Errorf("%v: %q, status %d, %s", c.signal, out, status, p.err)
		}
	}
}

func TestSignalPhases(t *testing.T) {
	var s signals
	var ended []error
	cancel := func(err error) { ended = append(ended, err) }
	in, control, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()

	s.got(syscall.SIGUSR1, cancel)
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	s.got(syscall.SIGINT, cancel)
	s.got(syscall.SIGTERM, cancel)
	s.to(&child{control: control})
	s.got(syscall.SIGHUP, cancel)
	s.over()
	s.got(syscall.SIGINT, cancel)
	_ = control.Close()
	passed, err := io.ReadAll(in)
	want := []byte{byte(syscall.SIGUSR1), byte(syscall.SIGINT), byte(syscall.SIGTERM), byte(syscall.SIGHUP)}
	if err != nil || !slices.Equal(passed, want) || ended != nil {
		t.Errorf("%v, passed on %v, ended by %v", err, passed, ended)
	}

	s = signals{}
	s.got(syscall.SIGWINCH, cancel)
	s.got(syscall.SIGINT, cancel)
	s.got(syscall.SIGTERM, cancel)
	if err := s.begin(); len(ended) == 0 || err != ended[0] || statusOf(err) != 130 {
		t.Errorf("a start after %v: %v", ended, err)
	}
}
