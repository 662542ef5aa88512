//go:build linux

package processlock_test

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/processlock"
)

// shell is a sqlite3 shell that answers.
type shell struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.Writer
	lines *bufio.Reader
}

// startShell starts a shell on path, or skips the test.
func startShell(t *testing.T, path string) *shell {
	t.Helper()
	name, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3 shell on this machine, which stands for a program in another language: ", err)
	}
	cmd := exec.Command(name, "-bail", path)
	in, out := child.Pipes(t, cmd)
	return &shell{t, cmd, in, bufio.NewReader(out)}
}

// tell runs SQL.
func (s *shell) tell(sql string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, sql+"\nSELECT 'done';\n"); err != nil {
		s.t.Fatal(err)
	}
}

// hear gives what the shell said to it.
func (s *shell) hear() string {
	s.t.Helper()
	var said strings.Builder
	for {
		line, err := s.lines.ReadString('\n')
		if strings.TrimSpace(line) == "done" {
			return said.String()
		}
		said.WriteString(line)
		if err == io.EOF {
			return said.String() // -bail: it failed
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

const takeSQL = "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE;"

func (s *shell) take() {
	s.t.Helper()
	s.tell(takeSQL)
	if said := s.hear(); strings.Contains(said, "locked") {
		s.t.Fatal(said)
	}
}

// K1, K2: what another program's SQLite holds is held for us.
func TestK1_Sqlite3ShellHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	s := startShell(t, path)
	s.take()
	if h := refused(t, path); h.Holder.IsPresent() {
		t.Fatal(h)
	}
	if !isHeld(t, path) {
		t.Fatal("free")
	}
	other := start(t, nil)
	if r := other.Do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("another process of ours: %+v", r)
	}
	// A holder that names itself as the TypeScript package does is reported.
	write(t, path+".holder", stampOf(t, int64(s.cmd.Process.Pid), nil))
	if h := refused(t, path); h.Holder.OrEmpty().PID != int64(s.cmd.Process.Pid) || h.Holder.OrEmpty().Nonce != "made by hand" {
		t.Fatal(h)
	}
	// Given back: one who waits gets it.
	other.Tell(command{Do: "acquire", Path: path, Wait: true, Retry: time.Millisecond, Notify: 2})
	other.Hear() // it pauses
	s.tell("ROLLBACK; PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_master;")
	s.hear()
	if r := other.Hear(); !r.OK {
		t.Fatalf("%+v", r)
	}
	if h := refused(t, path); h.Holder.OrEmpty().PID != other.PID() {
		t.Fatal("the left holder file was not replaced: ", h)
	}
	other.must(command{Do: "release", Path: path})

	// Killed: free at once, whatever it left.
	s = startShell(t, path)
	s.take()
	refused(t, path)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = s.cmd.Process.Wait()
	mustRelease(t, acquire(t, path))
}

// K1: what we hold is held for another program's SQLite, to read and to write.
func TestK1_Sqlite3ShellIsKeptOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	lock := acquire(t, path)
	for _, sql := range []string{takeSQL, "BEGIN IMMEDIATE;", "SELECT * FROM sqlite_master;", "PRAGMA user_version=1;"} {
		s := startShell(t, path)
		s.tell(sql)
		if said := s.hear(); !strings.Contains(said, "locked") {
			t.Fatalf("%s: the shell got our lock: %q", sql, said)
		}
	}
	// One that waits by SQLite's own means gets it when we give it back.
	s := startShell(t, path)
	s.tell(".timeout 60000\nSELECT 'waits';\n" + takeSQL)
	if line, err := s.lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != "waits" {
		t.Fatal(line, err)
	}
	if ok, err := lock.Verify(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	mustRelease(t, lock)
	if said := s.hear(); strings.Contains(said, "locked") {
		t.Fatal(said)
	}
	refused(t, path)
}

// K6: one who only reads is no holder: nobody is told so.
func TestK6_Sqlite3ShellReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	mustRelease(t, acquire(t, path))
	s := startShell(t, path)
	s.tell("BEGIN; SELECT count(*) FROM sqlite_master;")
	s.hear()
	if isHeld(t, path) {
		t.Fatal("held")
	}
	fails(t, path, processlock.ReasonContended)
	s.tell("COMMIT;")
	s.hear()
	mustRelease(t, acquire(t, path))
}
