//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// manyKeys makes a database with 100,000 leases of a process that lives.
func manyKeys(t *testing.T, n int) (dir, db string) {
	t.Helper()
	dir = t.TempDir()
	db = filepath.Join(dir, "l.db")
	p := start(t, dir, "run", "--lease", "l.db", "first", "--", "sh", "-c", "echo ready; read go")
	p.expect("ready")
	alter(t, db, fmt.Sprintf(`WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO lease_record SELECT printf('job/%%06d', i), 1, 1, holder, 'id' || i, renewed_at FROM n, lease_record WHERE key = 'first'`, n))
	t.Cleanup(func() { _ = p.in.Close(); p.status() })
	return dir, db
}

// One key of a megabyte moves nothing, and is whole in a pipe.
func TestF78_ALongKeyPadsNothing(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "short", "--", "true")
	alter(t, filepath.Join(dir, "l.db"), "INSERT INTO lease_record VALUES (replace(hex(zeroblob(500000)), '0', 'k'), 1, 1, NULL, NULL, 1)")
	out, errOut, status := call(t, dir, "ls", "l.db")
	lines := strings.Split(out, "\n")
	if status != 0 || len(lines) != 4 || len(lines[0]) > 200 || len(lines[2]) > 200 || len(lines[1]) < 1_000_000 {
		t.Errorf("status %d, %q, lines of %d, %d, %d", status, errOut, len(lines[0]), len(lines[1]), len(lines[2]))
	}
}

func TestPages(t *testing.T) {
	dir, _ := manyKeys(t, 100_000)
	keys := func(args ...string) (keys []string) {
		out, errOut, status := call(t, dir, append([]string{"ls", "l.db", "--json"}, args...)...)
		var list []entry
		if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 {
			t.Fatalf("%v, status %d, %q", err, status, errOut)
		}
		for _, e := range list {
			keys = append(keys, e.Key)
		}
		return keys
	}
	if all := keys(); len(all) != 100_001 || all[0] != "first" {
		t.Errorf("%d keys", len(all))
	}
	for args, want := range map[string]string{
		"--limit 2":                            "[first job/000001]",
		"--limit 2 --after job/000002":         "[job/000003 job/000004]",
		"--prefix job/09999 --limit 2":         "[job/099990 job/099991]",
		"--prefix job/09999 --after job/09999": "[job/099990 job/099991 job/099992 job/099993 job/099994 job/099995 job/099996 job/099997 job/099998 job/099999]",
		"--after job/100000":                   "[]",
		"--prefix none":                        "[]",
	} {
		if got := fmt.Sprint(keys(strings.Fields(args)...)); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
	if _, errOut, status := call(t, dir, "ls", "l.db", "--limit", "0"); status != statusLookTrouble || !strings.Contains(errOut, "number from 1") {
		t.Errorf("status %d, %q", status, errOut)
	}
}

// While many are renewed, and one changes hands, watch tells of that one and takes less
// than a twentieth of a core.
func TestF78_WatchOf100000Keys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir, db := manyKeys(t, 100_000)
	w := start(t, dir, "watch", "l.db", "--json")
	for range 100_001 {
		w.line()
	}
	before, began := cpuOf(t, w), time.Now()
	for i := range 5 {
		alter(t, db, "UPDATE lease_record SET revision = revision + 1, renewed_at = renewed_at + 1 WHERE key > 'job/099'")
		alter(t, db, fmt.Sprintf("UPDATE lease_record SET generation = generation + 1, revision = revision + 1 WHERE key = 'job/%06d'", 100*(i+1)))
		if line := w.line(); !strings.Contains(line, fmt.Sprintf(`"key":"job/%06d"`, 100*(i+1))) {
			t.Errorf("%.200s", line)
		}
	}
	used, passed := cpuOf(t, w)-before, time.Since(began)
	t.Logf("%v of %v", used, passed)
	if used*20 > passed {
		t.Errorf("it took %v in %v", used, passed)
	}
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	w.status()
}

// cpuOf is the time that the process has computed.
func cpuOf(t *testing.T, p *tool) time.Duration {
	t.Helper()
	var clock unix.Timespec
	// The clock of a process, as clock_getcpuclockid gives it.
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|2), &clock); err != nil {
		t.Skip(err)
	}
	return time.Duration(clock.Nano())
}
