//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rivus/tether/platform"
)

func TestListAndShow(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "a", "--", "true")
	if out, _, _ := call(t, dir, "run", "--lease", "l.db", "z", "--", "true"); out != "" {
		t.Errorf("%q", out)
	}
	p := start(t, dir, "run", "--lease", "l.db", "--ttl", "90s", "b", "--", "sh", "-c", "echo $PPID; read go")
	keeper := p.line()

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
	if one.State != held || one.Liveness != "alive" || one.Generation != 1 || strconv.FormatInt(one.Holder.PID, 10) != keeper ||
		one.Holder.TTL.Seconds() != 90 || one.RenewedAt.IsZero() {
		t.Errorf("%s", out)
	}
	if out, _, _ = call(t, dir, "show", "l.db", "b"); !strings.Contains(out, "liveness     alive\n") {
		t.Errorf("%s", out)
	}
	for line, want := range map[string]string{
		"show l.db ": "a\tfree\nb\theld\nz\tfree\n:4\n", "show l.db b": "b\theld\n:4\n", "run --lease l.db ": "a\tfree\nb\theld\nz\tfree\n:4\n",
		"run --lease=l.db z": "z\tfree\n:4\n", "show none.db ": ":4\n", "show l.db a ": ":4\n", "show ": ":0\n",
	} {
		if out, _, _ = call(t, dir, append([]string{"__complete"}, strings.Split(line, " ")...)...); out != want {
			t.Errorf("for %q the shell completes %q", line, out)
		}
	}

	killPID(t, keeper)
	p.status()
	if out, _, _ = call(t, dir, "ls", "l.db"); !strings.Contains(out, " dead ") {
		t.Errorf("%s", out)
	}
	if _, errOut, status = call(t, dir, "show", "l.db", "none"); status != statusNoSuchKey || !strings.Contains(errOut, `no key "none"`) {
		t.Errorf("status %d, %q", status, errOut)
	}
}

// killPID kills a process that wrote its pid.
func killPID(t *testing.T, text string) {
	t.Helper()
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// alter runs SQL on the database, as another program could.
func alter(t *testing.T, path, sql string) {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

func TestForeignDatabases(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "lock", "lock", "--", "true") // an empty database
	alter(t, filepath.Join(dir, "foreign"), "CREATE TABLE users (a); PRAGMA user_version = 1")
	alter(t, filepath.Join(dir, "other"), "CREATE TABLE lease_record (key TEXT); PRAGMA user_version = 1")
	alter(t, filepath.Join(dir, "newer"), "CREATE TABLE lease_record (key TEXT); PRAGMA user_version = 2")
	for c, says := range map[string]string{
		"ls lock": "lock: it is an empty database", "ls foreign": "another program's", "show foreign k": "another program's",
		"watch foreign": "another program's", "ls other": "other: its table lease_record", "show newer k": "use a newer tether",
	} {
		_, errOut, status := call(t, dir, strings.Fields(c)...)
		if status != statusLookTrouble || !strings.Contains(errOut, says) {
			t.Errorf("%s: status %d, %q", c, status, errOut)
		}
		_, errOut, _ = call(t, dir, append(strings.Fields(c), "--json")...)
		var said struct {
			Error struct {
				Tag    string `json:"_tag"`
				Reason string
			}
		}
		if err := json.Unmarshal([]byte(errOut), &said); err != nil || said.Error.Tag != "LeaseRepositoryFailure" || said.Error.Reason != "unsupported-schema" {
			t.Errorf("%s: %v in %q", c, err, errOut)
		}
	}
}

// What is odd about one key is told of that key; the others are listed as ever.
func TestOddRecords(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "sound", "--", "true")
	odd := map[string]int64{
		"future": 99999999999999999, "past": -99999999999999999, "last": math.MaxInt64, "first": math.MinInt64,
		"zero": -62135596800000, "year 10000": 253402300800000,
	}
	for key, at := range odd {
		alter(t, filepath.Join(dir, "l.db"), fmt.Sprintf("INSERT INTO lease_record VALUES ('%s', 1, 1, NULL, NULL, %d)", key, at))
	}
	alter(t, filepath.Join(dir, "l.db"), "INSERT INTO lease_record VALUES ('broken', 0, 0, 'x', NULL, 1)")

	var list []entry
	out, errOut, status := call(t, dir, "ls", "l.db", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 || len(list) != len(odd)+2 {
		t.Fatalf("%v, status %d: %s%s", err, status, out, errOut)
	}
	w := start(t, dir, "watch", "l.db", "--json")
	for _, e := range list {
		var watched entry
		if err := json.Unmarshal([]byte(w.line()), &watched); err != nil || watched.Key != e.Key || watched.RenewedAtMs != e.RenewedAtMs {
			t.Errorf("%v, %+v", err, watched)
		}
		out, errOut, status := call(t, dir, "show", "l.db", e.Key)
		switch at, isOdd := odd[e.Key]; {
		case e.Key == "sound" && (e.State != free || e.RenewedAt.IsZero() || e.RenewedAtMs != 0):
			t.Errorf("%+v", e)
		case e.Key == "broken" && (e.State != invalid || e.Problem == ""):
			t.Errorf("%+v", e)
		case isOdd && (e.State != free || !e.RenewedAt.IsZero() || e.AgeMs != 0 || e.RenewedAtMs != at):
			t.Errorf("%+v", e)
		case status != 0 || isOdd && !strings.Contains(out, fmt.Sprint(at)):
			t.Errorf("%s: status %d, %q, %q", e.Key, status, out, errOut)
		}
	}
	_ = w.cmd.Process.Signal(syscall.SIGTERM)
	w.status()
	if out, errOut, status := call(t, dir, "ls", "l.db"); status != 0 || !strings.Contains(out, "sound") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
}

// A shell prints what it completes.
func TestCompletionIsPrintable(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "sound", "--", "true")
	alter(t, filepath.Join(dir, "l.db"), `INSERT INTO lease_record VALUES ('a' || char(27) || '[2J', 1, 1, NULL, NULL, 1),
		('b' || char(13), 1, 1, NULL, NULL, 1), (CAST(x'63ff' AS TEXT), 1, 1, NULL, NULL, 1), ('d' || char(155), 1, 1, NULL, NULL, 1)`)
	for _, args := range [][]string{{"show", "l.db", ""}, {"run", "--lease", "l.db", ""}} {
		out, _, status := call(t, dir, append([]string{"__complete"}, args...)...)
		if !strings.HasPrefix(out, "sound\tfree\n:") || status != 0 {
			t.Errorf("%q, status %d", out, status)
		}
	}
}

func TestWatchInAPipe(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "l.db", "b", "--", "true")
	w := start(t, dir, "watch", "l.db", "--interval", "5ms")
	w.expect("b free, generation 1")

	p := start(t, dir, "run", "--lease", "l.db", "--heartbeat", "10ms", "a", "--", "sh", "-c", "echo $PPID; read go")
	keeper := p.line()
	if line := w.line(); !strings.HasPrefix(line, "a held by pid ") || !strings.HasSuffix(line, " (alive), generation 1") {
		t.Errorf("%q", line)
	}
	killPID(t, keeper)
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
