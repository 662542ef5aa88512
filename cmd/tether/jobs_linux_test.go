package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// forUsers runs a test in an interactive shell of every user that the tests may be.
func forUsers(t *testing.T, test func(p *terminal)) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	for _, u := range users() {
		t.Run(string(u), func(t *testing.T) { test(u.bash(t)) })
	}
}

func TestF72_DescriptorsAreInherited(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.types("exec 3>o 9>n; tether lock a -- sh -c 'echo x >&3; echo y >&9'; exec 3>&- 9>&-; cat o n\n")
		p.sees("x\r\ny\r\n")
		// And none that nobody knows of, but the shell's own.
		p.types("tether lock a -- ls /proc/self/fd | tr '\\n' ' ' >with; ls /proc/self/fd | tr '\\n' ' ' >without; cmp with without && echo sa''me\n")
		p.sees("same")
	})
}

// A pipeline whose other part reads the terminal.
func TestF73_APipelineReadsTheTerminal(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.types("tether run --lease l.db k -- sh -c 'echo a; sleep 0.3' | (head -1; read x </dev/tty; echo got $x)\n")
		p.sees("a\r\n")
		p.types("b\n")
		p.sees("got b\r\n")
	})
}

func TestF74_StdinIsAPipeAndTheTerminalIsRead(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.types("echo data | tether lock p -- sh -c 'cat; read x </dev/tty; echo got $x'\n")
		p.sees("data\r\n")
		p.types("b\n")
		p.sees("got b\r\n")
	})
}

// The tool in the background, then fg: CMD reads, ^Z stops both, ^C ends both.
func TestF74_FromTheBackground(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.types("tether lock p -- sh -c 'while read x; do echo got $x; done' &\n")
		if !stopsByItself(p) {
			t.Fatal(p.screen())
		}
		for _, keys := range []string{"one", "two"} {
			p.types("fg\n")
			p.until(false)
			p.types(keys + "\n")
			p.sees("got " + keys)
			p.types(ctrlZ)
			if !p.stops() {
				t.Fatal(p.screen())
			}
		}
		p.types("fg\n")
		p.until(false)
		p.types(ctrlC)
		if status := p.status(); status != "130" {
			t.Errorf("status %s", status)
		}
	})
}

// A CMD that stops itself leaves ^Z, fg and ^C as they are.
func TestF74_ACommandStopsItself(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.types("tether lock p -- sh -c 'echo ready; kill -STOP $$; echo on; sleep 50'\n")
		p.sees("ready")
		p.types(ctrlZ)
		if !p.stops() {
			t.Fatal(p.screen())
		}
		p.types("fg\n")
		p.sees("\non")
		p.types(ctrlC)
		if status := p.status(); status != "130" {
			t.Errorf("status %s", status)
		}
	})
}

func TestF75_AScriptEndsAtCtrlC(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.script("s", "tether lock p -- sh -c 'echo ready; exec sleep 50'\necho next\n")
		p.types("sh s\n")
		p.sees("ready\r\n")
		p.types(ctrlC)
		if status := p.status(); status != "130" || strings.Contains(p.screen(), "next") {
			t.Errorf("status %s:\n%s", status, p.screen())
		}
		// A loop ends, too.
		p.types("while :; do tether lock p -- sh -c 'echo re''ady; exec sleep 50'; done\n")
		p.sees("ready\r\n")
		p.types(ctrlC)
		p.sees(`\$ $`)
		p.until(true)
	})
}

func TestF76_IgnoredSignalsStayIgnored(t *testing.T) {
	forUsers(t, func(p *terminal) {
		for what, script := range map[string]string{
			"trap":       "(trap '' HUP INT QUIT PIPE TERM USR1 USR2 ALRM TSTP TTOU; %sgrep SigIgn /proc/self/status)",
			"background": "(set +m; %sgrep SigIgn /proc/self/status & wait)",
			"nothing":    "%sgrep SigIgn /proc/self/status",
			"nohup":      "nohup %sgrep SigIgn /proc/self/status 2>/dev/null | cat",
		} {
			var seen []string
			for _, with := range []string{"", "tether lock p -- "} {
				p.types(strings.Replace(script, "%s", with, 1) + "\n")
				seen = append(seen, p.sees(`SigIgn:\s*(\w+)`))
			}
			if seen[0] != seen[1] {
				t.Errorf("%s: %s without the tool, %s with it", what, seen[0], seen[1])
			}
		}
	})
}

// With ^Z CMD is stopped, and the lease goes on being renewed.
func TestF73_AStoppedJobKeepsItsLease(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.types("tether run --ttl 1s --lease l.db k -- sh -c 'echo ready; read x; echo got $x'\n")
		p.sees("ready")
		p.types(ctrlZ)
		if !p.stops() {
			t.Fatal(p.screen())
		}
		// One that waits watches for longer than the TTL.
		p.types("tether run --wait=2s --ttl 1s --lease l.db k -- echo ta''ken\n")
		if status := p.status(); status != "75" {
			t.Errorf("status %s:\n%s", status, p.screen())
		}
		p.types("fg\n")
		p.until(false)
		p.types("one\n")
		p.sees("got one")
	})
}

// A job that is stopped while it waits takes nothing, and gets its turn when it goes on.
func TestF73_AStoppedWaiterTakesNothing(t *testing.T) {
	forUsers(t, func(p *terminal) {
		p.types("tether lock l -- sh -c 'echo first; read x <fifo' & \n")
		p.script("fifo.sh", "mkfifo fifo\n")
		p.types("\nsh fifo.sh\n")
		p.sees("first")
		p.types("tether lock l --wait -- echo se''cond\n")
		p.sees("waiting")
		p.types(ctrlZ)
		if !p.stops() {
			t.Fatal(p.screen())
		}
		p.types("echo >fifo; wait %1; tether lock l --wait=10s -- echo th''ird\n")
		p.sees("third")
		p.types("fg\n")
		p.sees("second")
	})
}

// The terminal hangs up: CMD ends, and the lease is given back.
func TestTheTerminalHangsUp(t *testing.T) {
	home := ourselves.home(t)
	p := inTerminal(t, ourselves, home, nil, filepath.Join(home, "tether"), "run", "--lease", "l.db", "k", "--", "sh", "-c", "echo pid $$; exec sleep 50")
	pid := p.sees(`pid (\d+)`)
	_ = p.ours.Close()
	if lives(pid) {
		t.Error("CMD runs on")
	}
	_ = p.cmd.Wait()
	if out, errOut, status := call(t, home, "show", "l.db", "k"); status != 0 || !strings.Contains(out, "free") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
}

// 2,000 children that CMD leaves are gone within a second.
func TestF77_ManyOrphans(t *testing.T) {
	home := ourselves.home(t)
	orphans := filepath.Join(home, "orphans")
	if err := os.Symlink(filepath.Join(home, "tether"), orphans); err != nil {
		t.Fatal(err)
	}
	p := start(t, home, "run", "--lease", "l.db", "k", "--", orphans)
	p.expect("2000 are there")
	began := time.Now()
	_, status := p.status()
	took := time.Since(began)
	t.Logf("%v", took)
	if status != 0 || took > time.Second {
		t.Errorf("status %d after %v, %s", status, took, p.err)
	}
}

// A process that forks and ends in a loop, in sessions of its own and deaf to SIGTERM, is
// gone within a second of the tool's kill -9. It has the output open.
func TestF77_AForkLoop(t *testing.T) {
	p := start(t, t.TempDir(), "run", "--lease", "l.db", "k", "--", "bash", "-c",
		`trap '' TERM; f() { (trap '' TERM; echo >&3; f & ) ; }; exec 3>&1; export -f f; setsid bash -c f & sleep 50`)
	for range 20 {
		p.line()
	}
	began := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	p.status()
	took := time.Since(began)
	t.Logf("%v", took)
	if took > time.Second {
		t.Errorf("it took %v", took)
	}
}
