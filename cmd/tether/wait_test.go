//go:build unix

package main

import (
	"bufio"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/platform"
)

// saying starts the tool and gives what it says on stderr, line by line.
func saying(t *testing.T, dir string, args ...string) (p *tool, says func() string) {
	t.Helper()
	p = prepare(t, dir, args...)
	p.cmd.Stderr = nil
	said, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.begin()
	lines := bufio.NewReader(said)
	return p, func() string {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, line)
		}
		return line
	}
}

// locked keeps the database from everybody else until the result is called.
func locked(t *testing.T, path, how string) (free func()) {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.Exec(how); err != nil {
		t.Fatal(err)
	}
	return func() { _ = conn.Close() }
}

// The first try meets a write transaction, or one that makes the database.
func TestF71_WaitMeetsATransaction(t *testing.T) {
	for name, made := range map[string]bool{"of a lease": true, "that makes the database": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if made {
				call(t, dir, "run", "--lease", "l.db", "k", "--", "true")
			}
			free := locked(t, filepath.Join(dir, "l.db"), "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS lease_record (key TEXT)")
			p, says := saying(t, dir, "run", "--json", "--wait=20s", "--lease", "l.db", "k", "--", "echo", "ran")
			says() // acquiring
			if line := says(); !strings.Contains(line, `"waiting"`) || !strings.Contains(line, "busy") {
				t.Errorf("%q", line)
			}
			free()
			if out, status := p.status(); out != "ran\n" || status != 0 {
				t.Errorf("%q, status %d", out, status)
			}
		})
	}
}

// A reader of the lock's file keeps the lock from being taken, and nobody holds it.
func TestF71_WaitMeetsAReaderOfTheLock(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "lock", "l", "--", "true")
	free := locked(t, filepath.Join(dir, "l"), "BEGIN; SELECT count(*) FROM sqlite_schema")
	p, says := saying(t, dir, "lock", "--json", "--wait=20s", "l", "--", "echo", "ran")
	says()
	if line := says(); !strings.Contains(line, `"waiting"`) {
		t.Errorf("%q", line)
	}
	free()
	if out, status := p.status(); out != "ran\n" || status != 0 {
		t.Errorf("%q, status %d", out, status)
	}
}

// What stays in the way for the whole time is somebody else's doing, too.
func TestF71_WaitInVain(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "k", "--", "true")
	locked(t, filepath.Join(dir, "l.db"), "BEGIN IMMEDIATE")
	_, errOut, status := call(t, dir, "run", "--wait=700ms", "--lease", "l.db", "k", "--", "true")
	if status != statusHeld || !strings.Contains(errOut, "waited 700ms") {
		t.Errorf("%q, status %d", errOut, status)
	}
	// What no time cures ends the wait at once.
	began := time.Now()
	if _, errOut, status := call(t, dir, "run", "--wait=1h", "--lease", "none/l.db", "k", "--", "true"); status != statusTrouble {
		t.Errorf("%q, status %d after %v", errOut, status, time.Since(began))
	}
}

// Nobody learned who held it when the time was short.
func TestF78_WaitTellsTheHolder(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, "run", "--lease", "l.db", "k", "--", "sh", "-c", "echo ready; read go")
	first.expect("ready")
	for _, args := range []string{"run --wait=500ms --lease l.db k -- true", "lock --wait=500ms l.db.k.fence -- true"} {
		_, errOut, status := call(t, dir, strings.Fields(args)...)
		if status != statusHeld || !strings.Contains(errOut, "is held by pid ") || !strings.Contains(errOut, "waited 500ms") {
			t.Errorf("%s: %q, status %d", args, errOut, status)
		}
	}
	_ = first.in.Close()
	first.status()
}
