//go:build linux

package processlock_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// K4: a dead reclaimer's guard is reclaimed under the next level's, three deep.
func TestK4_DeadGuards(t *testing.T) {
	dead := stampOf(t, deadPid(t), nil)
	option := processlock.WithoutSQLite()
	for levels := range 4 {
		t.Run(fmt.Sprint(levels), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "l")
			for i := range levels + 1 {
				write(t, path+strings.Repeat(".stale", i), dead)
			}
			if levels < 3 {
				mustRelease(t, acquire(t, path, option))
				if got := entries(t, dir); got != "[]" {
					t.Fatal("left: ", got)
				}
				return
			}
			before := entries(t, dir)
			err := processlock.Acquire(context.Background(), platform.OS(), path, option).Error()
			failure, ok := errors.AsType[*processlock.Failure](err)
			if !ok || failure.Reason != processlock.ReasonDeadGuard || !strings.Contains(err.Error(), path+".stale.stale.stale") {
				t.Fatal(err)
			}
			if after := entries(t, dir); after != before {
				t.Fatal(after)
			}
		})
	}
}

// F2: a contender finds the holder dead and is stopped there; another takes over. When
// the first goes on it judges again, under the guard, and loses.
func TestF2_LateReclaimer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	write(t, path, stampOf(t, deadPid(t), nil))
	other := start(t, nil)
	p := *platform.OS()
	p.FS = hookFS{p.FS, func(at string) {
		if at == path+".stale" {
			other.must(command{Do: "acquire", Path: path, File: true})
		}
	}}
	err := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).Error()
	if held, ok := errors.AsType[*processlock.Held](err); !ok || held.Holder.OrEmpty().PID != other.PID() {
		t.Fatal(err)
	}
	if r := other.Do(command{Do: "verify", Path: path}); !r.OK {
		t.Fatalf("its file was taken away: %+v", r)
	}
}

// K4: while a living reclaimer has the guard nobody else reclaims.
func TestK4_LivingGuardKeepsOthersOut(t *testing.T) {
	option := processlock.WithoutSQLite()
	path := filepath.Join(t.TempDir(), "l")
	dead := stampOf(t, deadPid(t), nil)
	write(t, path, dead)
	write(t, path+".stale", stampOf(t, int64(os.Getppid()), nil))
	err := processlock.Acquire(context.Background(), platform.OS(), path, option).Error()
	failure, ok := errors.AsType[*processlock.Failure](err)
	if !ok || failure.Reason != processlock.ReasonContended || !strings.Contains(failure.Message, fmt.Sprintf(".stale\", under which a dead holder's file is removed, is held by pid %d", os.Getppid())) {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != dead {
		t.Fatal(string(data), err)
	}
}

// F15: whatever hinders the look at the holder is no proof of its death.
func TestF15_HinderedLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	content := stampOf(t, deadPid(t), nil)
	write(t, path, content)
	for _, reason := range []platform.Reason{platform.ReasonPermission, platform.ReasonIO, platform.ReasonInvalid} {
		p := *platform.OS()
		p.Process = hiddenProcess{p.Process, reason}
		err := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).Error()
		if _, ok := errors.AsType[*processlock.Held](err); !ok {
			t.Fatal(reason, err)
		}
		if held, err := processlock.IsHeld(context.Background(), &p, path, processlock.WithoutSQLite()); !held || err != nil {
			t.Fatal(reason, held, err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != content {
		t.Fatal(string(data), err)
	}
}

// F13: the holder runs in another PID namespace, where our pids mean nothing.
func TestF13_HolderInAnotherPidNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a PID namespace needs root")
	}
	path := filepath.Join(t.TempDir(), "l")
	option := processlock.WithoutSQLite()
	script := exec.Command("unshare", "--help")
	if script.Run() != nil {
		t.Skip("no unshare on this machine")
	}
	unshare := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	inside := started(t, child.Behind(unshare, workerEnv+"=1"))
	r := inside.Do(command{Do: "acquire", Path: path, File: true})
	if !r.OK {
		t.Fatalf("%+v", r)
	}
	held := refused(t, path, option)
	holder := held.Holder.MustGet()
	self, err := platform.OS().Process.Self()
	if err != nil {
		t.Fatal(err)
	}
	if holder.PIDNs == self.PIDNs || holder.PID > 100 {
		t.Fatalf("it is not in another namespace: %+v", holder)
	}
	if !isHeld(t, path, option) {
		t.Fatal("free")
	}
	inside.Signal(syscall.SIGKILL)
}
