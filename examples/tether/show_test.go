//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
)

func TestListAndShow(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "a", "--", "true")
	if out, _, _ := call(t, dir, "run", "--lease", "l.db", "z", "--", "true"); out != "" {
		t.Errorf("%q", out)
	}
	p := start(t, dir, "run", "--lease", "l.db", "--ttl", "90s", "b", "--", "sh", "-c", "echo ready; read go")
	p.expect("ready")

	var list []entry
	out, errOut, status := call(t, dir, "ls", "l.db", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 {
		t.Fatalf("%v, status %d: %s%s", err, status, out, errOut)
	}
	if len(list) != 3 || list[0].Key != "a" || list[0].State != free || list[2].State != free || list[0].Holder != nil {
		t.Errorf("%s", out)
	}
	var one entry
	out, _, _ = call(t, dir, "show", "l.db", "b", "--json")
	if err := json.Unmarshal([]byte(out), &one); err != nil {
		t.Fatal(err)
	}
	if one.State != held || one.Liveness != "alive" || one.Generation != 1 || one.Holder.PID != int64(p.cmd.Process.Pid) ||
		one.Holder.TTL.Seconds() != 90 || one.RenewedAt.IsZero() {
		t.Errorf("%s", out)
	}
	if out, _, _ = call(t, dir, "show", "l.db", "b"); !strings.Contains(out, "liveness     alive\n") {
		t.Errorf("%s", out)
	}
	if out, _, _ = call(t, dir, "__complete", "show", "l.db", ""); !strings.HasPrefix(out, "a\tfree\nb\theld\n") {
		t.Errorf("the shell completes %q", out)
	}

	_ = p.cmd.Process.Kill()
	p.status()
	if out, _, _ = call(t, dir, "ls", "l.db"); !strings.Contains(out, " dead ") {
		t.Errorf("%s", out)
	}
	if _, errOut, status = call(t, dir, "show", "l.db", "none"); status != 1 || !strings.Contains(errOut, "none") {
		t.Errorf("status %d, %q", status, errOut)
	}
}

func TestForeignDatabases(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "lock", "lock", "--", "true") // an empty database
	if _, errOut, status := call(t, dir, "ls", "lock"); status != 1 || !strings.Contains(errOut, "no lease database") {
		t.Errorf("status %d, %q", status, errOut)
	}
}

func TestWatchInAPipe(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "b", "--", "true")
	w := start(t, dir, "watch", "l.db", "--interval", "5ms")
	w.expect("b free, generation 1")

	p := start(t, dir, "run", "--lease", "l.db", "--heartbeat", "10ms", "a", "--", "sh", "-c", "echo ready; read go")
	p.expect("ready")
	if line := w.line(); !strings.HasPrefix(line, "a held by pid ") || !strings.HasSuffix(line, " (alive), generation 1") {
		t.Errorf("%q", line)
	}
	_ = p.cmd.Process.Kill()
	p.status()
	if line := w.line(); !strings.Contains(line, "(dead)") {
		t.Errorf("%q", line)
	}
	remove(t, dir+"/l.db")
	w.expect("a gone")
	w.expect("b gone")

	_ = w.cmd.Process.Signal(syscall.SIGINT)
	if _, status := w.status(); status != 0 {
		t.Errorf("status %d, %s", status, w.err)
	}
}

func TestWatchInJSON(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "b", "--", "true")
	w := start(t, dir, "watch", "l.db", "--json")
	var e entry
	if err := json.Unmarshal([]byte(w.line()), &e); err != nil || e.Key != "b" || e.State != free {
		t.Errorf("%v, %+v", err, e)
	}
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	w.status()
}
