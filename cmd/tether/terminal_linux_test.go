package main

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminalPair opens a pseudo-terminal.
func terminalPair(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, theirs
}

// In a terminal CMD can read from it, Ctrl-C is CMD's, Ctrl-Z does not put it to
// sleep, and the shell has its terminal back in the end.
func TestInATerminal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := terminalPair(t)
	// The script stands for the shell: it reads after the tool has ended.
	script := `"$0" run --lease l.db job -- sh -c 'trap "echo interrupted; exit" INT; echo ready; read a; echo "got $a"; read b; echo "got $b"; while :; do sleep 0.05; done'
read c; echo "back $c"`
	cmd := exec.Command("sh", "-c", script, self)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), toolVar+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewReader(ours)
	expect := func(want string) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n') // what is typed is echoed, too
			if err != nil {
				t.Fatalf("%v before %q", err, want)
			}
			if strings.HasSuffix(strings.TrimRight(line, "\r\n"), want) {
				return
			}
		}
	}
	typed := func(keys string) {
		t.Helper()
		if _, err := ours.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	expect("ready")
	typed("one\n")
	expect("got one")
	typed("\x1a") // Ctrl-Z
	typed("two\n")
	expect("got two")
	typed("\x03") // Ctrl-C
	expect("interrupted")
	typed("three\n")
	expect("back three")
}
