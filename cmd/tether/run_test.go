//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rivus/tether/platform"
)

func TestRunGivesTheTokenAndTheStatus(t *testing.T) {
	dir := t.TempDir()
	for token, script := range []struct {
		script, out string
		status      int
	}{
		{`echo $TETHER_KEY $TETHER_TOKEN; exit 3`, "job 1\n", 3},
		{`echo $TETHER_KEY $TETHER_TOKEN; kill -9 $$`, "job 2\n", -9},
		{`echo $TETHER_TOKEN $0 $1`, "3 a b c\n", 0},
	} {
		out, errOut, status := call(t, dir, "run", "--lease", "l.db", "job", "--", "sh", "-c", script.script, "a", "b c")
		if out != script.out || status != script.status || errOut != "" {
			t.Errorf("%d: %q, %q, status %d", token, out, errOut, status)
		}
	}
}

func TestStatusesOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "orphaned"), []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
	}{
		{"run --lease l.db job -- no-such-command", statusNotFound},
		{"run --lease l.db job -- ./no-such-command", statusNotFound},
		{"run --lease l.db job -- no-such-folder/command", statusNotFound},
		{"run --lease l.db job -- ./text", statusCannotExec},
		{"run --lease l.db job -- ./orphaned", statusCannotExec},
		{"run --lease l.db job -- ./", statusCannotExec},
		{"run --lease l.db job", statusTrouble},
		{"run job -- true", statusTrouble},
		{"run --lease l.db --heartbeat 1h job -- true", statusTrouble},
		{"run --lease missing/l.db job -- true", statusTrouble},
		{"lock missing/lock -- true", statusTrouble},
		{"show l.db", statusLookTrouble},
		{"ls missing.db", statusLookTrouble},
	} {
		_, errOut, status := call(t, dir, strings.Fields(c.args)...)
		if status != c.status || errOut == "" {
			t.Errorf("%s: status %d, %q", c.args, status, errOut)
		}
	}
}

// CMD is looked for before the wait, and started after it.
func TestACommandThatVanishes(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	first := start(t, dir, "lock", "l", "--", "sh", "-c", "echo ready; read go")
	first.expect("ready")
	second := prepare(t, dir, "lock", "l", "--json", "--wait", "--", "./program")
	second.cmd.Stderr = nil
	said, err := second.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	second.begin()
	lines := bufio.NewReader(said)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "acquiring") {
		t.Fatalf("%q, %v", line, err)
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	_ = first.in.Close()
	first.status()
	if _, status := second.status(); status != statusNotFound {
		t.Errorf("status %d", status)
	}
}

func TestWrongUsage(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"run", "--lease", "l.db", "--wait=-5s", "k", "--", "true"}, statusTrouble, "negative"},
		{[]string{"run", "--lease", "l.db", "--grace", "-1s", "k", "--", "true"}, statusTrouble, "negative"},
		{[]string{"run", "--lease", "l.db", "--ttl", "0", "k", "--", "true"}, statusTrouble, "at least 1s"},
		{[]string{"run", "--lease", "l.db", "--ttl", "5ms", "k", "--", "true"}, statusTrouble, `"5ms" for "--ttl" flag: it must be at least 1s`},
		{[]string{"run", "--lease", "l.db", "--ttl", "999ms", "k", "--", "true"}, statusTrouble, "at least 1s"},
		{[]string{"run", "--lease", "l.db", "--ttl", "3s", "--heartbeat", "1501ms", "k", "--", "true"}, statusTrouble, "--heartbeat is 1.501s and must be at most half of --ttl, which is 3s"},
		{[]string{"run", "--lease", "l.db", "--heartbeat", "-1s", "k", "--", "true"}, statusTrouble, "negative"},
		{[]string{"run", "--lease", "", "k", "--", "true"}, statusTrouble, "path"},
		{[]string{"lock", "--wait=-5s", "l", "--", "true"}, statusTrouble, "negative"},
		{[]string{"lock", "--grace", "-1s", "l", "--", "true"}, statusTrouble, "negative"},
		{[]string{"lock", "--check", "0s", "l", "--", "true"}, statusTrouble, "positive"},
		{[]string{"lock", "", "--", "true"}, statusTrouble, "path"},
		{[]string{"watch", "--interval", "0s", "l.db"}, statusLookTrouble, "positive"},
		{[]string{"ls", ""}, statusLookTrouble, "path"},
		{[]string{"run", "--lease", "l.db", "--wait", "10m", "k", "--", "true"}, statusTrouble, "--wait=10m"},
		{[]string{"lock", "l", "--wait", "10m", "--", "true"}, statusTrouble, "--wait=10m"},
		{[]string{"bogus", "--json"}, statusLookTrouble, `"event":"error"`},
		{[]string{"--json", "bogus"}, statusLookTrouble, `"event":"error"`},
		{[]string{"ls", "--bogus", "--json"}, statusLookTrouble, `"event":"error"`},
		{[]string{"ls"}, statusLookTrouble, "usage: tether ls DB"},
		{[]string{"show", "l.db"}, statusLookTrouble, "usage: tether show DB KEY"},
		{[]string{"ls", "--bogus"}, statusLookTrouble, "see tether ls --help"},
		{[]string{"run", "k", "--", "true"}, statusTrouble, "--lease DB"},
		{[]string{"help", "bogus"}, statusLookTrouble, "bogus"},
		{[]string{"completion"}, statusLookTrouble, "tether completion bash"},
		{[]string{"completion", "bogus"}, statusLookTrouble, "tether completion bash"},
		{[]string{"run", "--bogus", "--json", "k", "--", "true"}, statusTrouble, `"event":"error"`},
	} {
		out, errOut, status := call(t, dir, c.args...)
		if status != c.status || !strings.Contains(errOut, c.says) || out != "" {
			t.Errorf("%q: status %d, %q, %q", c.args, status, out, errOut)
		}
	}
	if _, errOut, _ := call(t, dir, "run", "--bogus", "k", "--", "true", "--json"); strings.Contains(errOut, "{") {
		t.Errorf("CMD's --json is not the tool's: %q", errOut)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestHeldElsewhere(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, "run", "--lease", "l.db", "job", "--", "sh", "-c", "echo ready; read go")
	first.expect("ready")

	_, errOut, status := call(t, dir, "run", "--lease", "l.db", "job", "--", "echo", "ran")
	if status != 75 || !strings.Contains(errOut, `lease "job" is held by pid `) {
		t.Errorf("status %d, %q", status, errOut)
	}
	out, errOut, status := call(t, dir, "run", "--lease", "l.db", "--wait=10ms", "job", "--", "echo", "ran")
	if status != 75 || out != "" || !strings.Contains(errOut, "waited 10ms") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
	_, errOut, _ = call(t, dir, "run", "--json", "--lease", "l.db", "job", "--", "echo", "ran")
	lines := strings.Split(strings.TrimSpace(errOut), "\n")
	var last struct {
		Event string
		Error struct {
			Tag        string `json:"_tag"`
			Generation int
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Error.Tag != "LeaseHeld" || last.Error.Generation != 1 {
		t.Errorf("%v, %+v of %s", err, last, errOut)
	}

	next := start(t, dir, "run", "--lease", "l.db", "--wait", "job", "--", "sh", "-c", "echo $TETHER_TOKEN")
	_ = first.in.Close()
	next.expect("2")
	if _, status := next.status(); status != 0 {
		t.Errorf("status %d", status)
	}
	if _, status := first.status(); status != 1 { // read met the end
		t.Errorf("status %d", status)
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	p := start(t, t.TempDir(), "run", "--lease", "l.db", "job", "--", "sh", "-c",
		"trap 'echo usr1' USR1; trap 'echo term; exit 9' TERM; echo ready; while :; do sleep 1000 & wait; done")
	p.expect("ready")
	_ = p.cmd.Process.Signal(syscall.SIGUSR1)
	p.expect("usr1")
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if out, status := p.status(); out != "term\n" || status != 9 {
		t.Errorf("%q, status %d", out, status)
	}
}

// Who waits tells for whom.
func TestWaiting(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, "run", "--lease", "l.db", "job", "--", "sh", "-c", "echo ready; read go")
	first.expect("ready")
	for args, says := range map[string]string{
		"run --json --wait --lease l.db job -- true": `{"event":"waiting","key":"job","error":{"_tag":"LeaseHeld",`,
		"lock --json --wait l.db.job.fence -- true":  `{"event":"waiting","path":"l.db.job.fence","error":{"_tag":"ProcessLockHeld",`,
	} {
		p := prepare(t, dir, strings.Fields(args)...)
		p.cmd.Stderr = nil
		said, err := p.cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		p.begin()
		lines := bufio.NewReader(said)
		_, _ = lines.ReadString('\n')
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, says) {
			t.Errorf("%s: %q, %v", args, line, err)
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		if _, status := p.status(); status != -15 {
			t.Errorf("%s: status %d", args, status)
		}
	}
	_ = first.in.Close()
	first.status()
}

func TestASignalEndsTheWait(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, "lock", "l", "--", "sh", "-c", "echo ready; read go")
	first.expect("ready")
	second := prepare(t, dir, "lock", "l", "--json", "--wait", "--", "echo", "ran")
	second.cmd.Stderr = nil
	said, err := second.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	second.begin()
	// It says that it tries when it listens to signals.
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || !strings.Contains(line, "acquiring") {
		t.Fatalf("%q, %v", line, err)
	}
	_ = second.cmd.Process.Signal(syscall.SIGTERM)
	if out, status := second.status(); out != "" || status != -15 {
		t.Errorf("%q, status %d", out, status)
	}
	_ = first.in.Close()
	first.status()
}

// remove takes the record away, as another program with the database could.
func remove(t *testing.T, path string) {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenExisting)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for {
		err := conn.Exec("DELETE FROM lease_record")
		if err == nil {
			return
		}
		if !platform.IsBusy(err) {
			t.Fatal(err)
		}
	}
}

func TestALostLeaseStopsTheCommand(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "run", "--lease", "l.db", "--heartbeat", "20ms", "job", "--", "sh", "-c",
		"trap 'echo stopping; exit 7' TERM; echo ready; sleep 1000 & wait")
	p.expect("ready")
	remove(t, filepath.Join(dir, "l.db"))
	if out, status := p.status(); out != "stopping\n" || status != 7 || !strings.Contains(p.err.String(), "lost") {
		t.Errorf("%q, %q, status %d", out, p.err, status)
	}
}

func TestALostLeaseKillsWhoIgnoresIt(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "run", "--lease", "l.db", "--heartbeat", "20ms", "--grace", "50ms", "job", "--", "sh", "-c",
		"trap '' TERM; echo ready; while :; do sleep 1000; done")
	p.expect("ready")
	remove(t, filepath.Join(dir, "l.db"))
	if _, status := p.status(); status != -9 {
		t.Errorf("%q, status %d", p.err, status)
	}
}

func TestALockThatIsReplacedStopsTheCommand(t *testing.T) {
	dir := t.TempDir()
	for _, mechanism := range []string{"--file=false", "--file=true"} {
		p := start(t, dir, "lock", "l", mechanism, "--check", "10ms", "--", "sh", "-c",
			"trap 'echo stopping; exit 7' TERM; echo $TETHER_LOCK; sleep 1000 & wait")
		p.expect("l")
		if _, _, status := call(t, dir, "lock", "l", mechanism, "--", "true"); status != 75 {
			t.Errorf("status %d", status)
		}
		if err := os.Remove(filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
		if out, status := p.status(); out != "stopping\n" || status != 7 || !strings.Contains(p.err.String(), "replaced") {
			t.Errorf("%q, %q, status %d", out, p.err, status)
		}
	}
}
