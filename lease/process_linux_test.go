package lease_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// children counts the processes that are not reaped yet.
var children sync.WaitGroup

// process is a worker as its test sees it.
type child struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	send *json.Encoder
	out  *json.Decoder
	pid  int64
}

// spawn starts this binary as a worker. wrap is the command line before it, if any.
func spawn(t testing.TB, s setup, wrap ...string) *child {
	t.Helper()
	line := append(wrap, "/proc/self/exe")
	if len(wrap) > 0 { // there /proc/self is the wrapper's
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		line[len(line)-1] = exe
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), workerEnv+"=1", "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
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
	children.Add(1)
	p := &child{t: t, cmd: cmd, in: in, send: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out)), pid: int64(cmd.Process.Pid)}
	t.Cleanup(func() {
		defer children.Done()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if err := p.send.Encode(s); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *child) tell(c command) {
	p.t.Helper()
	if err := p.send.Encode(c); err != nil {
		p.t.Fatal(err)
	}
}

func (p *child) hear() reply {
	p.t.Helper()
	var r reply
	if err := p.out.Decode(&r); err != nil {
		p.t.Fatal("worker is silent: ", err)
	}
	return r
}

// until hears until the phase comes.
func (p *child) until(phase string) {
	p.t.Helper()
	for p.hear().Phase != phase {
	}
}

// reply hears until an answer comes that is no phase.
func (p *child) reply() reply {
	p.t.Helper()
	for {
		if r := p.hear(); r.Phase == "" {
			return r
		}
	}
}

func (p *child) do(c command) reply {
	p.t.Helper()
	p.tell(c)
	return p.reply()
}

// must is do for what has to succeed.
func (p *child) must(c command) reply {
	p.t.Helper()
	r := p.do(c)
	if !r.OK {
		p.t.Fatalf("%s: %+v", c.Do, r)
	}
	return r
}

// kill is kill -9, and the reaping.
func (p *child) kill() {
	p.t.Helper()
	_ = p.cmd.Process.Kill()
	_, _ = p.cmd.Process.Wait()
}

func (p *child) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// stop stops the process and returns when the kernel says that it is.
func (p *child) stop() {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	p.awaitStopped()
}

func (p *child) awaitStopped() {
	p.t.Helper()
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(int(p.pid), &status, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || !status.Stopped() {
			p.t.Fatalf("wait: %v, %v", err, status)
		}
		return
	}
}

func (p *child) resume() { p.signal(syscall.SIGCONT) }

// quick is a config for processes of this machine: the TTL is long enough for a busy
// machine not to lose a lease, and is waited for only where that is what is tested. So
// is the heartbeat, after which a release gives up.
func quick(store, dir string) setup {
	return setup{Store: store, Dir: dir, TTL: 2 * time.Second, Heartbeat: 500 * time.Millisecond, Retry: 20 * time.Millisecond}
}
