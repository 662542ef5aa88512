package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var updateReadme = flag.Bool("update-readme", false, "write the table of README.md anew")

// wrapper is what a command is written behind.
type wrapper struct{ name, line string }

var (
	flock      = wrapper{"flock", "flock l"}
	timeout    = wrapper{"timeout", "timeout 60"}
	foreground = wrapper{"timeout --foreground", "timeout --foreground 60"}
	lock       = wrapper{"tether lock", "tether lock l --"}
	run        = wrapper{"tether run", "tether run --lease l.db k --"}
	wrappers   = []wrapper{flock, timeout, foreground, lock, run}
)

// look is what somebody before a terminal does and sees with one wrapper.
type look struct {
	what string
	see  func(p *terminal, w string) string
	// needs are programs beside those of every test.
	needs []string
	root  bool // it takes root
}

// TestBesideFlockAndTimeout runs flock, timeout and the tool in pseudo-terminals, and
// compares what was seen with the table of the README.
func TestBesideFlockAndTimeout(t *testing.T) {
	for _, program := range []string{"bash", "flock", "timeout", "make", "script"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	for _, u := range users() {
		t.Run(string(u), func(t *testing.T) {
			rows := make([][]string, len(looks))
			t.Run("looks", func(t *testing.T) {
				for i, l := range looks {
					rows[i] = make([]string, len(wrappers))
					for j, w := range wrappers {
						t.Run(l.what+"/"+w.name, func(t *testing.T) {
							t.Parallel()
							if l.root && (u == nobody || os.Getuid() != 0) {
								t.Skip("takes root")
							}
							for _, program := range l.needs {
								if _, err := exec.LookPath(program); err != nil {
									t.Skip(err)
								}
							}
							rows[i][j] = l.see(u.bash(t), w.line)
						})
					}
				}
			})
			compareTable(t, rows)
		})
	}
}

const (
	tableBegin = "<!-- made by: go test -run TestBesideFlockAndTimeout -update-readme -->\n"
	tableEnd   = "<!-- end -->\n"
)

func compareTable(t *testing.T, rows [][]string) {
	t.Helper()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), tableBegin)
	written, after, closed := strings.Cut(rest, tableEnd)
	if !found || !closed {
		t.Fatal("README.md has no table")
	}
	var table strings.Builder
	table.WriteString("| | `flock` | `timeout` | `timeout --foreground` | `tether` |\n|---|---|---|---|---|\n")
	lines := strings.Split(written, "\n")
	for i, l := range looks {
		row := rows[i]
		line := fmt.Sprintf("| %s | %s |", l.what, strings.Join(row[:4], " | "))
		switch {
		case row[3] != row[4]:
			t.Errorf("%s: tether lock %q, tether run %q", l.what, row[3], row[4])
			row[3] += " / " + row[4]
		case row[3] == "" && i+2 < len(lines): // it was skipped
			line = lines[i+2]
		}
		table.WriteString(line + "\n")
	}
	if *updateReadme {
		if err := os.WriteFile("README.md", []byte(before+tableBegin+table.String()+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(strings.Split(written, "\n"), strings.Split(table.String(), "\n")); diff != "" {
		t.Errorf("README.md is not what was seen:\n%s", diff)
	}
}

// soon is how long something is waited for that may never come.
const soon = 1500 * time.Millisecond

// lives reports whether a process is there after it had the time to end.
func lives(pid string) bool {
	var n int
	_, _ = fmt.Sscan(pid, &n)
	for end := time.Now().Add(soon); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		// Here orphans may stay as zombies, if nobody reaps them.
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		if err != nil || strings.Contains(string(line), ") Z ") {
			return false
		}
	}
	return true
}

func livesOrNot(pid string) string {
	if lives(pid) {
		return "runs on"
	}
	return "ends"
}

var looks = []look{
	{what: "CMD exits with 7", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'exit 7'\n")
		return "status " + p.status()
	}},
	{what: "CMD dies of SIGTERM", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'kill -TERM $$'; echo \"status=$?\"\n")
		status := p.sees(`status=(\d+)`)
		// Of one that exits the shell says nothing.
		if strings.Contains(p.screen(), "Terminated") {
			return "dies of it"
		}
		return "exits with " + status
	}},
	{what: "CMD is not there, or no program", see: func(p *terminal, w string) string {
		p.types(w + " ./none 2>/dev/null\n")
		none := p.status()
		p.types("echo >text; " + w + " ./text 2>/dev/null\n")
		return none + ", " + p.status()
	}},
	{what: "^C", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'echo pid $$; exec sleep 50'\n")
		pid := p.sees(`pid (\d+)`)
		p.types(ctrlC)
		return "status " + p.status() + ", CMD " + livesOrNot(pid)
	}},
	{what: `^\`, see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'ulimit -c 0; echo pid $$; exec sleep 50'\n")
		pid := p.sees(`pid (\d+)`)
		p.types(ctrlBackslash)
		return "status " + p.status() + ", CMD " + livesOrNot(pid)
	}},
	{what: "^C at CMD in a script", see: func(p *terminal, w string) string {
		p.script("s", w+" sh -c 'echo ready; exec sleep 3'; echo next\n")
		p.types("sh s\n")
		p.sees("ready")
		p.types(ctrlC)
		p.types("echo e''nd\n")
		if p.sees("next|end") == "next" {
			return "the script goes on"
		}
		return "the script ends"
	}},
	{what: "^C at a CMD that handles it", see: func(p *terminal, w string) string {
		p.types(w + " counter\n")
		p.sees("counter")
		p.types(ctrlC)
		p.until(true)
		p.types("echo \"status=$?\"\n")
		seen := p.seesAll(`counted (\d)`, `status=(\d+)`)
		return once(w, seen[0]) + " SIGINT, status " + seen[1]
	}},
	{what: "^Z, then `fg`", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'echo ready; read x; echo got $x'\n")
		p.sees("ready")
		p.types(ctrlZ)
		if !p.stops() {
			return "is not stopped"
		}
		p.types("fg\n")
		p.until(false)
		p.types("one\n")
		p.sees("got one")
		return "stopped, goes on"
	}},
	{what: "^Z, then `bg`", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'echo ready; sleep 0.2; echo do\"\"ne'\n")
		p.sees("ready")
		p.types(ctrlZ)
		if !p.stops() {
			return "is not stopped"
		}
		p.types("bg\n")
		p.sees("done\r\n")
		return "stopped, goes on"
	}},
	{what: "`CMD &` reads the terminal, then `fg`", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'read x; echo got $x' &\n")
		if !stopsByItself(p) {
			return "is not stopped"
		}
		p.types("fg\n")
		p.until(false)
		p.types("one\n")
		p.sees("got one")
		return "stopped, reads"
	}},
	{what: "that, and ^C", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'read x; echo got $x' &\n")
		if !stopsByItself(p) {
			return "is not stopped"
		}
		p.types("fg\n")
		p.sees(`got \$x'\r\n`) // the prompt that status waits for is a later one
		p.until(false)
		p.types(ctrlC)
		return "status " + p.status()
	}},
	{what: "first in a pipeline, whose other part reads /dev/tty", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'echo a; sleep 0.2' | (head -1; read x </dev/tty; echo got $x)\n")
		return readsTheTerminal(p, "a")
	}},
	{what: "last in a pipeline, and CMD reads /dev/tty", see: func(p *terminal, w string) string {
		p.types("echo a | " + w + " sh -c 'cat; read x </dev/tty; echo got $x'\n")
		return readsTheTerminal(p, "a")
	}},
	{what: "in the middle, and ^Z, `fg`", see: func(p *terminal, w string) string {
		p.types("(echo a; sleep 0.2) | " + w + " sh -c 'cat; read x </dev/tty; echo got $x' | cat\n")
		p.sees("a\r\n")
		p.types(ctrlZ)
		if !p.stops() {
			return "is not stopped"
		}
		p.types("fg\n")
		p.sees("cat\r\n")
		return readsTheTerminal(p, "")
	}},
	{what: "CMD stops itself; ^Z, `fg`", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'echo ready; kill -STOP $$; echo on'\n")
		p.sees("ready")
		// The shell says so at once, or waits for ^Z.
		if _, stopped := p.within(300*time.Millisecond, "Stopped"); !stopped {
			p.types(ctrlZ)
			p.sees("Stopped")
		}
		p.sees(`\$ $`)
		p.types("fg\n")
		p.sees("\non")
		return "goes on"
	}},
	{what: "under `script`, ^C", needs: []string{"script"}, see: func(p *terminal, w string) string {
		// In raw mode: ^C is not the shell's.
		p.types("script -qec \"" + w + " sh -c 'echo ready; exec sleep 50'\" /dev/null; echo \"status=$?\"\n")
		p.sees("ready")
		p.types(ctrlC)
		return "status " + p.sees(`status=(\d+)`)
	}},
	{what: "under `sudo`, ^C", needs: []string{"sudo"}, root: true, see: func(p *terminal, w string) string {
		p.types("sudo env PATH=$PATH " + w + " sh -c 'echo ready; exec sleep 50'\n")
		p.sees("ready")
		p.types(ctrlC)
		return "status " + p.status()
	}},
	{what: "CMD is `sudo`, ^C", needs: []string{"sudo"}, root: true, see: func(p *terminal, w string) string {
		p.types(w + " sudo sh -c 'echo ready; exec sleep 50'\n")
		p.sees("ready")
		p.types(ctrlC)
		return "status " + p.status()
	}},
	{what: "SIGTERM to it alone", see: func(p *terminal, w string) string {
		return counted(p, w, "kill -TERM $!", "SIGTERM")
	}},
	{what: "SIGINT to it alone, in the foreground", see: func(p *terminal, w string) string {
		p.types(w + " counter\n")
		pid := p.sees(`counter (\d+)`)
		n, _ := strconv.Atoi(pid)
		wrapper, _ := parentOf(n)
		if strings.HasPrefix(w, "tether") {
			wrapper, _ = parentOf(wrapper) // the keeper is in between
		}
		_ = syscall.Kill(wrapper, syscall.SIGINT)
		times, got := p.within(soon, `counted (\d)`)
		if !got {
			_ = killText(pid)
			return "CMD gets none"
		}
		return "CMD gets " + once(w, times) + " SIGINT"
	}},
	{what: "`kill %1`", see: func(p *terminal, w string) string {
		return counted(p, w, "kill %1", "SIGTERM")
	}},
	{what: "SIGKILL to it", see: func(p *terminal, w string) string {
		p.types(w + " counter & \n")
		pid := p.sees(`counter (\d+)`)
		p.types("kill -9 $!\n")
		defer killText(pid)
		return "CMD " + livesOrNot(pid)
	}},
	{what: "what CMD leaves in the background", see: func(p *terminal, w string) string {
		p.types(w + " sh -c 'sleep 50 & echo pid $!'\n")
		pid := p.sees(`pid (\d+)`)
		defer killText(pid)
		return livesOrNot(pid)
	}},
	{what: "descriptor 3", see: func(p *terminal, w string) string {
		p.types("exec 3>o; " + w + " sh -c 'echo x >&3'; exec 3>&-; cat o; echo e''nd\n")
		if p.sees("x\r\n|end") == "end" {
			return "is closed"
		}
		return "is CMD's"
	}},
	{what: "make's jobs (`+WRAPPER $(MAKE)` under `make -j2`)", needs: []string{"make"}, see: func(p *terminal, w string) string {
		p.script("Makefile", "all:\n\t+"+w+" $(MAKE) sub\nsub: a b\na:\n\t@echo a\nb:\n\t@echo b\n")
		p.types("env -u MAKEFLAGS -u MAKELEVEL make -j2 all; echo e''nd\n")
		p.sees("end")
		if strings.Contains(p.screen(), "jobserver unavailable") {
			return "no jobserver"
		}
		return "the jobserver is CMD's"
	}},
	{what: "a socket for it (LISTEN_PID)", see: func(p *terminal, w string) string {
		p.types("sh -c 'LISTEN_PID=$$ exec " + w + " sh -c \"test \\$LISTEN_PID = \\$\\$ && echo its own || echo not its own\"'\n")
		return "in CMD " + p.sees("(not its own|its own)\r\n")
	}},
	{what: "signals that it was started to ignore", see: func(p *terminal, w string) string {
		p.types("(trap '' TERM USR1 PIPE QUIT; " + w + " grep SigIgn /proc/self/status)\n")
		if p.sees(`SigIgn:\s*(\w+)`) == "0000000000005204" {
			return "CMD ignores"
		}
		return "CMD does not ignore"
	}},
	{what: "niceness, limits, umask", see: func(p *terminal, w string) string {
		p.types("ulimit -Sn 123; umask 027; nice -n 5 " + w + " sh -c 'echo =$(nice) $(ulimit -n) $(umask)='\n")
		if p.sees("=(.*)=") == "5 123 0027" {
			return "CMD's"
		}
		return "changed"
	}},
	{what: "while the job is stopped by ^Z", see: func(p *terminal, w string) string {
		if strings.HasPrefix(w, "timeout") {
			return "(holds nothing)"
		}
		w = strings.Replace(w, "--lease", "--ttl 1s --lease", 1)
		p.types(w + " sh -c 'echo ready; exec sleep 50'\n")
		p.sees("ready")
		p.types(ctrlZ)
		p.stops()
		// Others watch for longer than the TTL.
		p.types("timeout 2 " + strings.Replace(strings.Replace(w, "lock l", "lock --wait l", 1), "run ", "run --wait ", 1) + " echo ta''ken; echo e''nd\n")
		if p.sees("taken|end") == "taken" {
			return "others get it"
		}
		return "is held"
	}},
}

// stops reports whether the shell says that its job is stopped. The prompt comes when the
// shell has set up the terminal: what is typed before may be lost.
func (p *terminal) stops() bool {
	p.t.Helper()
	if _, stopped := p.within(soon, "Stopped"); !stopped {
		return false
	}
	p.sees(`\$ $`)
	p.until(true)
	return true
}

// stopsByItself reports whether the shell says so of a job in the background.
func stopsByItself(p *terminal) bool {
	p.types("for i in $(seq 15); do jobs | grep Stopped && break; sleep 0.1; done; echo e''nd\n")
	stopped := p.sees("Stopped|end") == "Stopped"
	if stopped {
		p.sees("end")
	}
	p.until(true)
	return stopped
}

// readsTheTerminal waits for what is shown and types an answer.
func readsTheTerminal(p *terminal, first string) string {
	if first != "" {
		p.sees(first + "\r\n")
	}
	p.types("one\n")
	if _, got := p.within(soon, "got one"); !got {
		return "nobody reads"
	}
	return "reads"
}

// once is how often CMD got a signal. timeout may pass on what CMD got already: whether
// that is the second time depends on how soon it comes.
func once(w, n string) string {
	if strings.HasPrefix(w, "timeout") {
		return "1 or 2"
	}
	return n
}

// counted counts what CMD in the background gets of a signal.
func counted(p *terminal, w, kill, name string) string {
	p.types(w + " counter &\n")
	pid := p.sees(`counter (\d+)`)
	p.types(kill + "\n")
	n, got := p.within(soon, `counted (\d)`)
	if !got {
		_ = killText(pid)
		return "CMD gets none"
	}
	return "CMD gets " + once(w, n) + " " + name
}

func killText(pid string) error {
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil {
		return err
	}
	return syscall.Kill(n, syscall.SIGKILL)
}
