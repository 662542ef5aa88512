//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// The test runs this binary again as the program.
const childEnv = "TETHER_EXAMPLE_QUICKSTART"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Args = []string{os.Args[0], "-leases", path, "-takes", "1h"}
		main()
		return
	}
	os.Exit(m.Run())
}

// Ctrl-C in the middle of the work releases the lease.
func TestCtrlCReleases(t *testing.T) {
	path := t.TempDir() + "/leases.db"
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if line := bufio.NewScanner(out); !line.Scan() || line.Text() != "saved by task:42#1" {
		t.Fatalf("it said %q", line.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the work was not interrupted")
	}
	repository := lease.NewSQLiteRepository(platform.OS(), path)
	defer repository.Close()
	leases, err := lease.NewManager(platform.OS(), repository, lease.Config{TTL: time.Minute, Heartbeat: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if record, found, err := leases.Lookup(t.Context(), "task:42"); err != nil || !found || !record.IsTombstone() {
		t.Errorf("%+v, %v, %v", record, found, err)
	}
}
