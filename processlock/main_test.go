//go:build linux

package processlock_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/leftovers"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		worker()
		return
	}
	leftovers.Verify(m, children.Wait) // each child ends when its test does
}

// children counts the processes that are not reaped yet.
var children sync.WaitGroup

// process is a worker as its test sees it.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	send *json.Encoder
	out  *json.Decoder
	pid  int64
}

func start(t testing.TB, barrier *os.File, change ...func(*exec.Cmd)) *process {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		cmd = exec.Command(os.Args[0])
	}
	cmd.Env = append(os.Environ(), workerEnv+"=1")
	cmd.Stderr = os.Stderr
	if barrier != nil {
		cmd.ExtraFiles = []*os.File{barrier}
	}
	for _, f := range change {
		f(cmd)
	}
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
	p := &process{t: t, cmd: cmd, in: in, send: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out)), pid: int64(cmd.Process.Pid)}
	children.Add(1)
	t.Cleanup(func() {
		defer children.Done()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return p
}

func (p *process) tell(c command) {
	p.t.Helper()
	if err := p.send.Encode(c); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) hear() reply {
	p.t.Helper()
	var r reply
	if err := p.out.Decode(&r); err != nil {
		p.t.Fatal("worker is silent: ", err)
	}
	return r
}

func (p *process) do(c command) reply {
	p.t.Helper()
	p.tell(c)
	return p.hear()
}

// must is do for what has to succeed.
func (p *process) must(c command) {
	p.t.Helper()
	if r := p.do(c); !r.OK {
		p.t.Fatalf("%s: %+v", c.Do, r)
	}
}

// kill is kill -9, and the reaping.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_, _ = p.cmd.Process.Wait()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// stop stops the process and returns when the kernel says that it is.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(int(p.pid), &status, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || !status.Stopped() {
			p.t.Fatal("not stopped", err, status)
		}
		return
	}
}

// rounds is how often a heavy test repeats: TETHER_ROUNDS times the usual number
// over 100, a tenth under -short. Under the race detector it is a fifth: a round costs
// five to ten times as much there and is to find data races, which show in any order
// of events. Orders that are rare are the plain run's to find.
func rounds(usual int) int {
	n := usual
	if s := os.Getenv("TETHER_ROUNDS"); s != "" {
		if percent, err := strconv.Atoi(s); err == nil {
			n = usual * percent / 100
		}
	} else if testing.Short() {
		n = usual / 10
	} else if raced {
		n = usual / 5
	}
	return max(n, 3)
}

// mechanisms runs f for both.
func mechanisms(t *testing.T, f func(t *testing.T, file bool, options ...processlock.Option)) {
	t.Run("sqlite", func(t *testing.T) { f(t, false) })
	t.Run("lock-file", func(t *testing.T) { f(t, true, processlock.WithoutSQLite()) })
}

func acquire(t testing.TB, path string, options ...processlock.Option) *processlock.Lock {
	t.Helper()
	lock, err := processlock.Acquire(context.Background(), platform.OS(), path, options...).Get()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	return lock
}

func mustRelease(t testing.TB, lock *processlock.Lock) {
	t.Helper()
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func isHeld(t testing.TB, path string, options ...processlock.Option) bool {
	t.Helper()
	held, err := processlock.IsHeld(context.Background(), platform.OS(), path, options...)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// refused takes nothing and gives the *Held.
func refused(t testing.TB, path string, options ...processlock.Option) *processlock.Held {
	t.Helper()
	result := processlock.Acquire(context.Background(), platform.OS(), path, options...)
	held, ok := errors.AsType[*processlock.Held](result.Error())
	if !ok {
		t.Fatalf("want Held, got %v", result)
	}
	return held
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// entries are the names in a directory.
func entries(t testing.TB, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return fmt.Sprint(names)
}
