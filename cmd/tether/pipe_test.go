//go:build unix

package main

import (
	"bufio"
	"os"
	"strings"
	"syscall"
	"testing"
)

// diedOfPipe tells whether the tool ended as others do whose reader is gone, and said
// nothing about it.
func diedOfPipe(p *tool) bool {
	status := p.wait()
	return p.err.Len() == 0 && (status == statusNoReader || status == -int(syscall.SIGPIPE))
}

// Nothing changes in the database, so that watch has nothing to write.
func TestWatchEndsWithItsReader(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "k", "--", "true")
	for _, args := range []string{"watch l.db --interval 1h", "watch l.db --interval 1h --json"} {
		p := prepare(t, dir, strings.Fields(args)...)
		p.cmd.Stdout = nil
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		p.begin()
		if line, err := bufio.NewReaderSize(out, 16).ReadByte(); err != nil {
			t.Fatalf("%q, %v, %s", line, err, p.err)
		}
		_ = out.Close()
		if !diedOfPipe(p) {
			t.Errorf("%s: %v, %q", args, p.cmd.ProcessState, p.err)
		}
	}
}

func TestNobodyReadsAList(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "k", "--", "true")
	for _, args := range []string{"ls l.db", "ls l.db --json", "show l.db k", "watch l.db", "version"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		p := prepare(t, dir, strings.Fields(args)...)
		p.cmd.Stdout = w
		p.begin()
		_ = w.Close()
		if !diedOfPipe(p) {
			t.Errorf("%s: %v, %q", args, p.cmd.ProcessState, p.err)
		}
	}
}

// A reader that stops reading keeps a write waiting, for ever.
func TestASignalEndsAWatchThatNobodyReads(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "k", "--", "true")
	// More than a pipe takes.
	alter(t, dir+"/l.db", "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO lease_record SELECT 'key ' || i, 1, 1, NULL, NULL, 1 FROM n")
	for _, n := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := prepare(t, dir, "watch", "l.db", "--json")
		p.begin()
		// It has begun to write, and listens to signals.
		if _, err := p.out.ReadByte(); err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Process.Signal(n)
		if status := p.wait(); status != 0 || p.err.Len() > 0 {
			t.Errorf("%v: status %d, %q", n, status, p.err)
		}
	}
}

// Who stops reading what the tool says must not end CMD.
func TestCommandsOutliveTheReaderOfStderr(t *testing.T) {
	dir := t.TempDir()
	p := prepare(t, dir, "run", "--json", "--lease", "l.db", "--heartbeat", "20ms", "k", "--", "sh", "-c",
		"exec 2>/dev/null; trap 'echo stopping; exit 7' TERM; echo ready; read go; echo went; while :; do sleep 0.01; done")
	p.cmd.Stderr = nil
	said, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.begin()
	p.expect("ready")
	_ = said.Close()
	_, _ = p.in.Write([]byte("\n"))
	p.expect("went")
	// It has something to say now.
	remove(t, dir+"/l.db")
	if out, status := p.status(); out != "stopping\n" || status != 7 {
		t.Errorf("%q, status %d", out, status)
	}
}
