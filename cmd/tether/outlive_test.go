//go:build unix

package main

import (
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// familyOf starts a command with a child in its group and, on Linux, one that left it.
func familyOf(t *testing.T, dir string, then string) *tool {
	t.Helper()
	script := "trap '' HUP; sleep 1000 & "
	if _, err := exec.LookPath("setsid"); err == nil && runtime.GOOS == "linux" {
		script += "(setsid sh -c 'sleep 1000 & sleep 1000' &) ; "
	}
	p := start(t, dir, "run", "--lease", "l.db", "job", "--", "sh", "-c", script+"echo $$ $PPID; "+then)
	return p
}

func pids(t *testing.T, p *tool) (command, keeper int) {
	t.Helper()
	line := p.line()
	for i := range line {
		if line[i] == ' ' {
			command, _ = strconv.Atoi(line[:i])
			keeper, _ = strconv.Atoi(line[i+1:])
		}
	}
	if command == 0 || keeper == 0 {
		t.Fatalf("no pids in %q", line)
	}
	return command, keeper
}

// A killed tool takes everything with it: the output is at its end, so nobody has it
// open any more. The lease was given back then.
func TestNothingOutlivesAKilledTool(t *testing.T) {
	dir := t.TempDir()
	p := familyOf(t, dir, "wait")
	pids(t, p)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.status()
	if out, errOut, status := call(t, dir, "run", "--lease", "l.db", "job", "--", "sh", "-c", "echo $TETHER_TOKEN"); out != "2\n" || status != 0 {
		t.Errorf("%q, %q, status %d", out, errOut, status)
	}
}

// The tool is stopped when it dies, and the group of its terminal with it.
func TestNothingOutlivesAToolKilledWithItsGroup(t *testing.T) {
	p := familyOf(t, t.TempDir(), "wait")
	pids(t, p)
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	_ = p.cmd.Process.Kill()
	p.status()
}

// The kernel kills the command with the keeper; the rest is the front's to kill.
func TestAKilledKeeper(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only the group dies here, by the tool's hand")
	}
	p := familyOf(t, t.TempDir(), "wait")
	_, keeper := pids(t, p)
	if err := syscall.Kill(keeper, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, status := p.status(); status != statusTrouble {
		t.Errorf("status %d, %s", status, p.err)
	}
}

// The tool and its keeper die together: the kernel kills the command.
func TestAKilledKeeperAndTool(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs PR_SET_PDEATHSIG")
	}
	p := start(t, t.TempDir(), "run", "--lease", "l.db", "job", "--", "sh", "-c", "echo $$ $PPID; exec sleep 1000")
	_, keeper := pids(t, p)
	_ = syscall.Kill(keeper, syscall.SIGSTOP) // it hears of nothing
	_ = p.cmd.Process.Kill()
	_ = syscall.Kill(keeper, syscall.SIGKILL)
	p.status()
}

// What a command leaves in the background ends before the lease is given back.
func TestTheBackgroundIsStopped(t *testing.T) {
	dir := t.TempDir()
	p := familyOf(t, dir, "exit 5")
	pids(t, p)
	if _, status := p.status(); status != 5 {
		t.Errorf("status %d, %s", status, p.err)
	}
}
