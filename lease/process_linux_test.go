package lease_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivus/tether/internal/child"
)

// peer is a worker as its test sees it.
type peer struct {
	*child.Process[command, reply]
	t testing.TB
}

// spawn starts this binary as a worker. wrap is the command line before it, if any.
func spawn(t testing.TB, s setup, wrap ...string) *peer {
	t.Helper()
	cmd := child.Behind(wrap, workerEnv+"=1", "GOMAXPROCS=2")
	if len(wrap) == 0 { // who makes a namespace is root
		child.Next(cmd)
	}
	for _, path := range []string{s.Dir, s.Log} {
		if path == s.Log && path != "" {
			path = filepath.Dir(path)
		}
		if path != "" {
			child.Share(t, path)
		}
	}
	return run(t, s, cmd)
}

// spawnAs starts this binary as another user's worker.
func spawnAs(t testing.TB, s setup, as child.User) *peer {
	t.Helper()
	cmd := child.Self(workerEnv+"=1", "GOMAXPROCS=2")
	as(cmd)
	return run(t, s, cmd)
}

func run(t testing.TB, s setup, cmd *exec.Cmd) *peer {
	t.Helper()
	p := &peer{child.Start[command, reply](t, cmd), t}
	p.Tell(command{Setup: &s})
	return p
}

// until hears until the phase comes.
func (p *peer) until(phase string) {
	p.t.Helper()
	for p.Hear().Phase != phase {
	}
}

// reply hears until an answer comes that is no phase.
func (p *peer) reply() reply {
	p.t.Helper()
	for {
		if r := p.Hear(); r.Phase == "" {
			return r
		}
	}
}

// Do tells, and hears past the phases.
func (p *peer) Do(c command) reply {
	p.t.Helper()
	p.Tell(c)
	return p.reply()
}

// must is Do for what has to succeed.
func (p *peer) must(c command) reply {
	p.t.Helper()
	r := p.Do(c)
	if !r.OK {
		p.t.Fatalf("%s: %+v", c.Do, r)
	}
	return r
}

// quick is a config for processes of this machine: the TTL is long enough for a busy
// machine not to lose a lease, and is waited for only where that is what is tested. So
// is the heartbeat, after which a release gives up.
func quick(store, dir string) setup {
	return setup{Store: store, Dir: dir, TTL: 2 * time.Second, Heartbeat: 500 * time.Millisecond, Retry: 20 * time.Millisecond}
}
