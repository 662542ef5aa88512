package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// edited is the subject whose quantity is the CPU time, in nanoseconds, that the go
// command takes for the program in dir after an edit: of the compiler alone, or with
// the linker.
func edited(name, dir string, link bool) Subject {
	edits := 0
	return Subject{Name: name, Measure: func() float64 {
		if edits == 0 {
			goCommand(dir, link, edits) // what it is built on is compiled by now
		}
		edits++
		return goCommand(dir, link, edits)
	}}
}

// goCommand builds the program in dir, whose text has a line more for each edit, and
// gives the CPU time that took. The file itself stays as it is.
func goCommand(dir string, link bool, edits int) float64 {
	temp := must(os.MkdirTemp("", "tether-bench-"))
	defer os.RemoveAll(temp)
	source := must(filepath.Abs(filepath.Join(dir, "main.go")))
	text := fmt.Sprintf("%s\nvar _ = %d // edited by process %d\n", must(os.ReadFile(source)), edits, os.Getpid())
	changed, overlay := filepath.Join(temp, "main.go"), filepath.Join(temp, "overlay.json")
	check(os.WriteFile(changed, []byte(text), 0o600))
	check(os.WriteFile(overlay, must(json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})), 0o600))
	args := []string{"list", "-overlay", overlay, "-export", "."}
	if link {
		args = []string{"build", "-overlay", overlay, "-o", filepath.Join(temp, "program"), "."}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		panic(strings.TrimSpace(string(out)) + ": " + err.Error())
	}
	return float64(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
}

func compiling() Group {
	quickstart := filepath.Join("..", "examples", "quickstart")
	return Group{"Compiling", []Row{
		{
			Name: "compile", Work: "examples/quickstart after an edit of one line, CPU time of the compiler and the go command", Unit: "edit",
			Ours:    edited("tether", quickstart, false),
			Against: []Reference{{Subject: edited("the same by hand: database/sql, a mutex", "plain", false)}},
		},
		{
			Name: "compile-link", Work: "the same with linking, the SQLite that is written in Go included", Unit: "edit",
			Ours:    edited("tether", quickstart, true),
			Against: []Reference{{Subject: edited("the same by hand: database/sql, a mutex", "plain", true)}},
		},
	}}
}
