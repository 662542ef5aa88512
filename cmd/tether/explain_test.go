//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// Each failure of a file is one sentence, with its path and the way out, and nothing
// is made where nothing was.
func TestFilesThatAreNoDatabases(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	call(t, dir, "run", "--lease", "sound.db", "k", "--", "true")
	sound, err := os.ReadFile(at("sound.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"empty": nil, "text": []byte("hello\n"), "long": []byte(strings.Repeat("hello\n", 1000)), "half": sound[:3000]} {
		if err := os.WriteFile(at(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	alter(t, at("foreign"), "CREATE TABLE users (a)")
	for _, err := range []error{os.Mkdir(at("folder"), 0o700), os.Symlink("sound.db", at("link")), os.Symlink("nothing", at("dangling")), syscall.Mkfifo(at("fifo"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, dir)
	for path, says := range map[string]string{
		"none":        "none does not exist; check the path",
		"no/such/db":  "the folder of no/such/db does not exist; make it with mkdir -p no/such",
		"a b/db":      "make it with mkdir -p 'a b'",
		"empty":       "empty: it is an empty database",
		"text":        "text is no database",
		"long":        "long is no database",
		"half":        "half is a damaged database",
		"foreign":     "foreign: it is another program's database; check the path",
		"folder":      "folder is a folder; give the path of a file",
		"sound.db/db": "a part of sound.db/db that should be a folder is none; check the path",
		"link":        "link is a symbolic link, which is not followed; give the path of the file itself, sound.db",
		"dangling":    "dangling is a symbolic link",
		"fifo":        "fifo is a FIFO, socket or device; give the path of a regular file",
	} {
		for _, command := range [][]string{{"ls", path}, {"show", path, "k"}, {"watch", path}} {
			out, errOut, status := call(t, dir, command...)
			if status != statusLookTrouble || out != "" || !strings.HasPrefix(errOut, "tether: ") || !strings.Contains(errOut, says) || strings.Count(errOut, path) > 2 {
				t.Errorf("%q: status %d, %q, %q", command, status, out, errOut)
			}
		}
	}
	if after := names(t, dir); after != before {
		t.Errorf("there was %s, and now there is %s", before, after)
	}

	for path, says := range map[string]string{
		"no/such/l": "tether: the folder of no/such/l does not exist; make it with mkdir -p no/such, or check the path\n",
		"folder":    "tether: folder is a folder; give the path of a file\n",
	} {
		for _, command := range [][]string{{"run", "--lease", path, "k", "--", "true"}, {"lock", path, "--", "true"}} {
			if _, errOut, status := call(t, dir, command...); status != statusTrouble || errOut != says {
				t.Errorf("%q: status %d, %q", command, status, errOut)
			}
		}
	}
	if _, errOut, status := call(t, dir, "run", "--lease", "text", "k", "--", "true"); status != statusTrouble || errOut != "tether: text is no database, and was left as it is; check the path\n" {
		t.Errorf("status %d, %q", status, errOut)
	}
	if _, errOut, status := call(t, dir, "lock", "text", "--", "true"); status != statusTrouble || !strings.HasPrefix(errOut, "tether: text is no lock, nor a part of one, and was left as it is") {
		t.Errorf("status %d, %q", status, errOut)
	}
	if _, errOut, status := call(t, dir, "run", "--lease", "foreign", "k", "--", "true"); status != statusTrouble || !strings.HasPrefix(errOut, "tether: foreign: it is another program's") {
		t.Errorf("status %d, %q", status, errOut)
	}
	// Programs get what the layers below said.
	_, errOut, _ := call(t, dir, "run", "--json", "--lease", "no/such/l", "k", "--", "true")
	if !strings.Contains(errOut, `"_tag":"LeaseRepositoryFailure"`) || !strings.Contains(errOut, `"message":"the folder of no/such/l does`) {
		t.Errorf("%q", errOut)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// F51: trouble with another file than the database is told of that file, and trouble
// with no file of none.
func TestF51_TheFileThatItIs(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "run", "--lease", "k.db", "k", "--", "true")
	if err := os.Remove(filepath.Join(dir, "k.db.k.fence")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "k.db.k.fence"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, errOut, status := call(t, dir, "run", "--lease", "k.db", "k", "--", "true")
	if want := "tether: k.db.k.fence is a folder; give the path of a file\n"; status != statusTrouble || errOut != want {
		t.Errorf("status %d, %q", status, errOut)
	}
	if err := os.Mkdir(filepath.Join(dir, "l.holder"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, errOut, status = call(t, dir, "lock", "l", "--", "true")
	if !strings.HasPrefix(errOut, "tether: l.holder is a folder") || status != statusTrouble {
		t.Errorf("status %d, %q", status, errOut)
	}
	for says, f := range map[string]*platform.Failure{
		"this process":          {Op: "identify this process", PID: 42, Path: "/proc/self/stat", Reason: platform.ReasonUnsupported, Cause: syscall.ENOENT},
		"sub/h.db.k.fence is a": {Path: "/elsewhere/h.db.k.fence", Reason: platform.ReasonIsDirectory},
		"sub/h.db is a":         {Path: "/elsewhere/h.db", Reason: platform.ReasonIsDirectory},
	} {
		if got := explain("sub/h.db", toWrite, f).Error(); !strings.Contains(got, says) || f.PID != 0 && strings.Contains(got, "h.db") {
			t.Errorf("%v is explained as %q", f, got)
		}
	}
}

func TestExplain(t *testing.T) {
	for says, c := range map[string]struct {
		what purpose
		err  error
	}{
		"this user may not read p, or":              {toRead, &platform.Failure{Reason: platform.ReasonPermission}},
		"this user may not read p, or enter":        {toRead, &os.PathError{Op: "open", Path: "p", Err: syscall.EACCES}},
		"this user may not write p and":             {toWrite, &platform.Failure{Reason: platform.ReasonPermission}},
		"p is on a read-only file system":           {toWrite, &platform.Failure{Reason: platform.ReasonReadOnly}},
		"p is kept locked by another program":       {toRead, &platform.Failure{Reason: platform.ReasonBusy}},
		"no space is left for p":                    {toWrite, &platform.Failure{Reason: platform.ReasonNoSpace}},
		"p: io (input/output error)":                {toRead, &platform.Failure{Op: "step", Path: "p", Reason: platform.ReasonIO, Cause: syscall.EIO}},
		"p: it is in use":                           {toRead, errInUse},
		`lease "k": repository: invalid-record: x`:  {toWrite, &lease.RepositoryFailure{Key: "k", Reason: lease.RepositoryInvalidRecord, Message: "x"}},
		"p: the repository is closed":               {toWrite, &lease.RepositoryFailure{Key: "k", Reason: lease.RepositoryUnavailable, Message: "the repository is closed"}},
		`lease "k" (generation 1) is lost: expired`: {toWrite, &lease.Lost{Key: "k", Generation: 1, Reason: "expired"}},
	} {
		if got := explain("p", c.what, c.err); !strings.HasPrefix(got.Error(), says) {
			t.Errorf("%v is explained as %q", c.err, got)
		}
	}
	if explain("p", toRead, nil) != nil {
		t.Error("nothing is explained")
	}
}
