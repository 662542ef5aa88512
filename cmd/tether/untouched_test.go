//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lock is asked for at the path of what is none: it is refused, and not a byte of it
// changes.
func TestF49_WhatIsNoLockIsLeftAsItIs(t *testing.T) {
	for _, mechanism := range []string{"--file=false", "--file=true"} {
		dir := t.TempDir()
		call(t, dir, "run", "--lease", "leases.db", "k", "--", "true")
		for name, content := range map[string]string{
			"script": "#!/bin/sh\necho hello\n", "pidfile": "4242\n", "json": `{"a":1}`, "long": strings.Repeat("hello\n", 2000),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		before := contents(t, dir)
		for _, name := range []string{"script", "pidfile", "json", "long", "leases.db"} {
			out, errOut, status := call(t, dir, "lock", mechanism, name, "--", "echo", "ran")
			if status != statusTrouble || out != "" || !strings.Contains(errOut, name) || strings.Count(errOut, "\n") != 1 {
				t.Errorf("%s %s: status %d, %q, %q", mechanism, name, status, out, errOut)
			}
		}
		for name, was := range before {
			if now := contents(t, dir)[name]; now != was {
				t.Errorf("%s: %s was changed", mechanism, name)
			}
		}
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range strings.Fields(names(t, dir)) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(data)
	}
	return found
}
