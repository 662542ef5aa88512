package platform_test

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/platform"
)

func TestP1_Self(t *testing.T) {
	self, err := platform.OS().Process.Self()
	if err != nil {
		t.Fatal(err)
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	host, _ := os.Hostname()
	if self.BootID != strings.TrimSpace(string(boot)) || self.Host != host || self.PID != int64(os.Getpid()) {
		t.Fatalf("%+v", self)
	}
	if link, err := os.Readlink("/proc/self/ns/pid"); err == nil && link != "pid:["+strconv.FormatUint(self.PIDNs, 10)+"]" {
		t.Fatal("P4: ", link, self.PIDNs)
	}
	if link, err := os.Readlink("/proc/self/ns/time"); err == nil && link != "time:["+strconv.FormatUint(self.TimeNs, 10)+"]" {
		t.Fatal("P4: ", link, self.TimeNs)
	}
	found, _, err := platform.OS().Process.Identify(self.PID)
	if err != nil || found != self {
		t.Fatal(found, err)
	}
}

func TestP3_OneIdentityPerPlatformValue(t *testing.T) {
	if one, other := platform.OS(), platform.OS(); one != other {
		t.Fatal("two calls give two platforms")
	}
	var all sync.WaitGroup
	first, err := platform.OS().Process.Self()
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		all.Go(func() {
			if again, err := platform.OS().Process.Self(); err != nil || again != first {
				t.Error(again, err)
			}
		})
	}
	all.Wait()
	if n := testing.AllocsPerRun(100, func() { _, _ = platform.OS().Process.Self() }); n != 0 {
		t.Fatal("it reads again: ", n, " allocations")
	}
}

func TestP2_Identify(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := int64(cmd.Process.Pid)
	process := platform.OS().Process
	if found, _, err := process.Identify(pid); err != nil || found.PID != pid {
		t.Fatal(found, err)
	}
	_ = in.Close()
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, int(pid), &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	// F16: a zombie, not reaped yet.
	if found, runs, err := process.Identify(pid); err != nil || runs {
		t.Fatal("zombie: ", found, err)
	}
	_ = cmd.Wait()
	if found, runs, err := process.Identify(pid); err != nil || runs {
		t.Fatal("gone: ", found, err)
	}
}

// P2, F17: a pid that no process can have is not taken for another one.
func TestP2_ImpossiblePids(t *testing.T) {
	for _, pid := range []int64{0, -1, math.MinInt64, math.MaxInt32 + 1, 1<<32 + int64(os.Getpid()), platform.MaxSafeInteger} {
		if found, _, err := platform.OS().Process.Identify(pid); platform.ReasonOf(err) != platform.ReasonInvalid {
			t.Fatal(pid, found, err)
		}
	}
	if found, runs, err := platform.OS().Process.Identify(math.MaxInt32); err != nil || runs {
		t.Fatal(found, err)
	}
}

// P2: the main thread has ended, another still runs: not dead.
func TestP2_EndedMainThreadWithAnother(t *testing.T) {
	const env = "TETHER_PLATFORM_THREADS"
	if os.Getenv(env) != "" {
		endMainThread()
		return
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), env+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	pid := int64(cmd.Process.Pid)
	for {
		line, err := os.ReadFile("/proc/" + strconv.FormatInt(pid, 10) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		stat, err := platform.ParseProcStat(line)
		if err != nil {
			t.Fatal(err)
		}
		if stat.Ended() {
			break
		}
		runtime.Gosched()
	}
	found, _, err := platform.OS().Process.Identify(pid)
	if err != nil || found.PID != pid {
		t.Fatal("a process with a living thread was taken for dead: ", found, err)
	}
}

func init() {
	if os.Getenv("TETHER_PLATFORM_THREADS") != "" {
		runtime.LockOSThread() // main.init runs on the main thread; so does main then
	}
}

// endMainThread is called on a goroutine of its own; TestMain's is locked to the main
// thread and waits for mainExit. exit(2) ends the calling thread alone.
func endMainThread() {
	go func() { _, _ = os.Stdin.Read(make([]byte, 1)); os.Exit(0) }()
	mainExit <- struct{}{}
	select {}
}

var mainExit = make(chan struct{})

func exitThread() { _, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0) }
