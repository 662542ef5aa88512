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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// The tests run this binary again as other processes. Everything between them
// goes through pipes; nothing sleeps to synchronize.
const workerEnv = "TETHER_PROCESSLOCK_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		worker()
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		children.Wait() // each ends when its test does
		os.Exit(code)
	}))
}

// children counts the processes that are not reaped yet.
var children sync.WaitGroup

// reply is what a worker answers.
type reply struct {
	OK     bool
	Held   bool   // a *Held
	Holder int64  // its holder's pid
	Tag    string // of any other failure
	Reason string
	Text   string
	At     int64 // nanoseconds of the monotonic clock, which processes share
	Pauses []pause
	Looks  []look
}

// pause is one that an Acquire made, in the clock of At.
type pause struct{ Begin, End int64 }

// look is what one IsHeld saw, and when.
type look struct {
	Begin, End int64
	Held       bool
}

// command is what it is told.
type command struct {
	Do     string // acquire, race, release, isheld, watch, verify
	Path   string
	Wait   bool
	Retry  time.Duration
	File   bool // WithoutSQLite
	Repeat int
	Notify int // reply "pausing" in that pause of a waiting acquire
}

func (c command) options() []processlock.Option {
	var o []processlock.Option
	if c.Wait {
		o = append(o, processlock.Wait())
	}
	if c.Retry > 0 {
		o = append(o, processlock.Retry(c.Retry))
	}
	if c.File {
		o = append(o, processlock.WithoutSQLite())
	}
	return o
}

// worker answers commands until its input ends. Descriptor 3, where there is one,
// is the barrier: one byte a racer.
func worker() {
	held := map[string]*processlock.Lock{}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	barrier := os.NewFile(3, "barrier")
	ctx := context.Background()
	for {
		var c command
		if in.Decode(&c) != nil {
			os.Exit(0)
		}
		var r reply
		switch c.Do {
		case "acquire", "race":
			if c.Do == "race" {
				_ = out.Encode(reply{Text: "ready"})
				if _, err := io.ReadFull(barrier, make([]byte, 1)); err != nil {
					os.Exit(3)
				}
			}
			p := platform.OS()
			clock := &recordingClock{Clock: p.Clock, notify: c.Notify, told: func() { _ = out.Encode(reply{Text: "pausing"}) }}
			if c.Notify > 0 {
				p = &platform.Platform{FS: p.FS, Process: p.Process, SQLite: p.SQLite, Clock: clock}
			}
			lock, err := processlock.Acquire(ctx, p, c.Path, c.options()...).Get()
			if r = answer(err); err == nil {
				held[c.Path] = lock
			}
			r.Pauses = clock.pauses
		case "release":
			if lock := held[c.Path]; lock != nil {
				r = answer(lock.Release())
				delete(held, c.Path)
			} else {
				r = reply{OK: true}
			}
		case "verify":
			ok, err := held[c.Path].Verify()
			r = answer(err)
			r.OK = ok
		case "isheld":
			r = reply{OK: true}
			for range max(c.Repeat, 1) {
				is, err := processlock.IsHeld(ctx, platform.OS(), c.Path, c.options()...)
				if err != nil {
					r = answer(err)
					break
				}
				if is {
					r.Held = true
					r.Holder++
				}
			}
		case "watch":
			r = reply{OK: true}
			for range c.Repeat {
				l := look{Begin: monotonic()}
				is, err := processlock.IsHeld(ctx, platform.OS(), c.Path, c.options()...)
				if err != nil {
					r = answer(err)
					break
				}
				l.Held, l.End = is, monotonic()
				r.Looks = append(r.Looks, l)
			}
		case "foreign-close": // K11: what a careless part of the program does
			file, err := os.Open(c.Path)
			if err == nil {
				err = file.Close()
			}
			r = answer(err)
		}
		_ = out.Encode(r)
	}
}

func answer(err error) reply {
	r := reply{OK: err == nil, At: monotonic()}
	if err == nil {
		return r
	}
	r.Tag, r.Text = errors.TagOf(err), err.Error()
	if held, ok := errors.AsType[*processlock.Held](err); ok {
		r.Held = true
		r.Holder = held.Holder.OrEmpty().PID
	}
	if failure, ok := errors.AsType[*processlock.Failure](err); ok {
		r.Reason = string(failure.Reason)
	}
	return r
}

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
// over 100, a tenth under -short.
func rounds(usual int) int {
	n := usual
	if s := os.Getenv("TETHER_ROUNDS"); s != "" {
		if percent, err := strconv.Atoi(s); err == nil {
			n = usual * percent / 100
		}
	} else if testing.Short() {
		n = usual / 10
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

// again runs the named test alone in a process of its own that change prepares,
// and answers false; inside that process it answers true.
func again(t *testing.T, change func(*exec.Cmd)) bool {
	t.Helper()
	const env = "TETHER_PROCESSLOCK_AGAIN"
	if os.Getenv(env) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), env+"=1")
	change(cmd)
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skip("not permitted here: ", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, text)
	case strings.Contains(text, "--- SKIP"):
		t.Skip(text)
	case !strings.Contains(text, "--- PASS"):
		t.Fatalf("it did not run:\n%s", text)
	}
	return false
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
