//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "free", "--", "true")
	p := start(t, dir, "run", "--lease", "l.db", "--ttl", "90s", "held", "--", "sh", "-c", "echo $PPID; read go")
	keeper := p.line()
	dead := start(t, dir, "run", "--lease", "l.db", "dead", "--", "sh", "-c", "echo $PPID; read go")
	killPID(t, dead.line())
	dead.status()
	alter(t, filepath.Join(dir, "l.db"), `
		INSERT INTO lease_record VALUES ('broken', 0, 0, 'x', NULL, 1);
		INSERT INTO lease_record SELECT 'far', 1, 1, json_set(holder, '$.host', 'far' || char(10)), 'x', renewed_at FROM lease_record WHERE key = 'held';
		INSERT INTO lease_record SELECT 'booted', 1, 1, json_set(holder, '$.bootId', 'other'), 'x', renewed_at FROM lease_record WHERE key = 'held';
		INSERT INTO lease_record SELECT 'contained', 1, 1, json_set(holder, '$.pidNs', 7), 'x', renewed_at FROM lease_record WHERE key = 'held';
		INSERT INTO lease_record SELECT 'again', 1, 1, json_set(holder, '$.startTime', 7), 'x', renewed_at FROM lease_record WHERE key = 'held'`)
	for key, want := range map[string]struct {
		status int
		says   []string
	}{
		"free":      {0, []string{"free since it was released", "the next to ask gets it"}},
		"none":      {0, []string{"nobody ever held it"}},
		"held":      {1, []string{"held by pid " + keeper, "alive: same host, boot, namespaces, pid", "unrenewed for 1m30s", "fence", "a command of the key runs"}},
		"dead":      {0, []string{"no process has pid", "at once: its holder is dead"}},
		"broken":    {1, []string{"is no record"}},
		"far":       {1, []string{`unknown: it is on host "far\n"`, "nobody can tell"}},
		"booted":    {0, []string{"dead: this host was booted again"}},
		"contained": {1, []string{"another PID namespace (7"}},
		"again":     {0, []string{"is another process now: it started at"}},
	} {
		out, errOut, status := call(t, dir, "doctor", "l.db", key)
		for _, says := range want.says {
			if !strings.Contains(out, says) {
				t.Errorf("%s: no %q in\n%s", key, says, out)
			}
		}
		if status != want.status || errOut != "" {
			t.Errorf("%s: status %d, %q\n%s", key, status, errOut, out)
		}
		var found []finding
		out, _, _ = call(t, dir, "doctor", "l.db", key, "--json")
		if err := json.Unmarshal([]byte(out), &found); err != nil || len(found) < 4 {
			t.Errorf("%v, %q", err, out)
		}
	}
	_ = p.in.Close()
	p.status()
}

// Where a lease cannot be taken because of the files.
func TestDoctorOfFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	for path, says := range map[string]string{
		"no/such": "the folder of no/such does not exist", "text": "is no database", "folder": "is a folder", "none": "tether run makes it",
	} {
		out, errOut, status := call(t, dir, "doctor", path, "k")
		want := 1
		if path == "none" {
			want = 0
		}
		if status != want || !strings.Contains(out, says) || errOut != "" {
			t.Errorf("%s: status %d, %q, %q", path, status, out, errOut)
		}
	}
	if after := names(t, dir); after != before {
		t.Errorf("there was %s, and now there is %s", before, after)
	}
}

// Another user, who may read and not write.
func TestDoctorOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("takes root to be two users")
	}
	home := nobody.home(t)
	if err := os.Chown(home, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	call(t, home, "run", "--lease", "l.db", "k", "--", "true")
	p := prepare(t, home, "doctor", "l.db", "k")
	p.cmd.Path = filepath.Join(home, "tether")
	p.cmd.SysProcAttr = nobody.attributes(&syscall.SysProcAttr{})
	p.begin()
	_ = p.in.Close()
	if out, status := p.status(); status != 1 || !strings.Contains(out, "this user may not write l.db") || !strings.Contains(out, "of root:root") {
		t.Errorf("status %d, %q, %q", status, out, p.err)
	}
}

// The fence's name is the library's.
func TestNameOf(t *testing.T) {
	dir := t.TempDir()
	for _, key := range []string{"k", "a/b c", "grün", "~.*'()!", strings.Repeat("long/", 60)} {
		if out, errOut, status := call(t, dir, "run", "--lease", "l.db", key, "--", "ls"); status != 0 || !strings.Contains(out, "l.db."+nameOf(key)+".fence\n") {
			t.Errorf("%s: status %d, %q, %q", key, status, out, errOut)
		}
	}
}
