package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

var (
	update = flag.Bool("update", false, "tidy go.mod and go.sum")
	// The checksum of what is not released yet differs with every change of it; go.sum
	// has it from the release on.
	unreleased = regexp.MustCompile(`(?m)^github\.com/rivus/tether ` + rehearsed + `.*\n`)
)

const rehearsed = "v0.1.0" // the version of the main module that go.mod requires

// proxy makes a module proxy of files that has this clone as the released version.
func proxy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for path, source := range map[string]string{
		"github.com/rivus/tether":            filepath.Join("..", ".."),
		"github.com/rivus/tether/cmd/tether": ".",
	} {
		at := filepath.Join(dir, filepath.FromSlash(path), "@v")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		if err := zip.CreateFromDir(&archive, module.Version{Path: path, Version: rehearsed}, source); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{
			"list": []byte(rehearsed + "\n"), rehearsed + ".mod": mod, rehearsed + ".zip": archive.Bytes(),
			rehearsed + ".info": []byte(`{"Version":"` + rehearsed + `","Time":"2026-01-01T00:00:00Z"}`),
		} {
			if err := os.WriteFile(filepath.Join(at, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// goEnv is the value of a variable of the go command.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// As a user will: go install at a version, outside of any module and workspace, with
// a module cache of its own, from a proxy. And go.mod is tidy, which go mod tidy itself
// could not tell before the release.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles everything anew")
	}
	work := t.TempDir()
	run := func(dir string, args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-modcacherw -trimpath", "GONOSUMDB=github.com/rivus/*",
			"GOMODCACHE="+filepath.Join(work, "mod"), "GOBIN="+filepath.Join(work, "bin"),
			"GOPROXY=file://"+proxy(t)+",file://"+filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")+","+goEnv(t, "GOPROXY"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(work, "install", "github.com/rivus/tether/cmd/tether@"+rehearsed); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(work, "bin", "tether"), "--help").Output(); err != nil || !bytes.Contains(out, []byte("tether ls")) {
		t.Errorf("%v: %s", err, out)
	}
	want := "tether " + rehearsed + "\nlibrary " + library + " " + rehearsed + "\n"
	if out, err := exec.Command(filepath.Join(work, "bin", "tether"), "--version").Output(); err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("%v: %s", err, out)
	}
	copied := filepath.Join(work, "copy")
	if err := os.CopyFS(copied, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(copied, "mod", "tidy"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		tidy, err := os.ReadFile(filepath.Join(copied, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.sum" {
			tidy = unreleased.ReplaceAll(tidy, nil)
		}
		if *update {
			if err := os.WriteFile(name, tidy, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if current, _ := os.ReadFile(name); !bytes.Equal(unreleased.ReplaceAll(current, nil), unreleased.ReplaceAll(tidy, nil)) {
			t.Errorf("%s is not tidy; make it so: go test -run TestRelease -update", name)
		}
	}
}
