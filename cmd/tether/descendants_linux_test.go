package main

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

func TestParentIn(t *testing.T) {
	for line, want := range map[string]int{
		"12 (sh) S 7 12 12 0":          7,
		"12 (a) b) (c) Z 34 12 12 0\n": 34,
		"12 (sh)":                      -1,
		"":                             -1,
		"12 (sh) S x":                  -1,
	} {
		got, ok := parentIn([]byte(line))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d", line, got)
		}
	}
}

func TestEachDescendant(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exec 3<&0; cat <&3 & echo; wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	_, _ = out.Read(b[:])
	for name, each := range map[string]func(int, func(int)){"listed": eachDescendant, "looked for": eachBelow} {
		var found []int
		each(os.Getpid(), func(pid int) { found = append(found, pid) })
		if len(found) < 2 || !slices.Contains(found, cmd.Process.Pid) {
			t.Errorf("%s: %v, without %d", name, found, cmd.Process.Pid)
		}
	}
	_ = in.Close()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
