package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
)

// workers is how many processes share a database.
const workers = 8

// phases are what each of them does with its share of the keys, in this order.
var phases = []string{"acquire", "read", "renew", "release"}

// contender does the phases.
type contender interface {
	acquire(keys []string)
	read(keys []string)
	renew(keys []string)
	release(keys []string)
}

// rawContender is a hand-written one. Its transactions that raise the generation
// are synced.
type rawContender struct{ *rawLeases }

func (r rawContender) level(level string) { check(r.conn.Exec("PRAGMA synchronous = " + level)) }

func (r rawContender) acquire(keys []string) {
	r.level("FULL")
	for _, key := range keys {
		r.swap(key, true, true)
	}
}

func (r rawContender) renew(keys []string) {
	r.level("NORMAL")
	for _, key := range keys {
		r.swap(key, false, true)
	}
}

func (r rawContender) release(keys []string) {
	r.level("NORMAL")
	for _, key := range keys {
		r.swap(key, false, false)
	}
}

func (r rawContender) read(keys []string) {
	for _, key := range keys {
		r.load(key)
	}
}

// tetherContender is a manager, on one fiber for as long as the process lives.
type tetherContender struct {
	*store
	do *effect.Do
	at *scope.Scope
}

func (t *tetherContender) acquire(keys []string) {
	t.at = scope.New(scope.Sequential)
	for _, key := range keys {
		// While eight processes write at once a try may find the database busy for
		// longer than it waits.
		try := t.manager.Acquire(key).ProvideScope(t.at)
		for {
			_, err := t.do.Await(effect.Result(try)).Get()
			if err == nil {
				break
			}
			failure, ok := errors.AsType[*lease.RepositoryFailure](err)
			assert(ok && failure.Reason == lease.RepositoryBusy, err.Error())
		}
	}
	t.awaitHeartbeats(len(keys))
}

func (t *tetherContender) read(keys []string) {
	for _, key := range keys {
		t.do.Await(t.manager.Read(key))
	}
}

func (t *tetherContender) renew(keys []string) { t.renewAll(len(keys)) }

func (t *tetherContender) release([]string) { release(t.do, t.at) }

// work is the body of a process: for each line, a phase, it answers with a line when
// that is done.
func work(kind, path string, index, size int) {
	var keys []string
	for i, key := range keysOf(size) {
		if i%workers == index {
			keys = append(keys, key)
		}
	}
	serve := func(c contender) {
		do := map[string]func([]string){"acquire": c.acquire, "read": c.read, "renew": c.renew, "release": c.release}
		fmt.Println("ready")
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			do[lines.Text()](keys)
			fmt.Println("done")
		}
	}
	if kind == "raw" {
		r := openRaw(path, "NORMAL", keys)
		serve(rawContender{r})
		return
	}
	s := openStore(path)
	s.run(func(do *effect.Do) { serve(&tetherContender{store: s, do: do}) })
	check(s.repository.Close())
}

// crew is the processes of one database.
type crew struct {
	in  []io.WriteCloser
	out []*bufio.Reader
	cmd []*exec.Cmd
}

func startCrew(kind string, size int) (c *crew, stop func()) {
	c = &crew{}
	dir, remove := temporary(diskDir)
	for i := range workers {
		cmd := exec.Command(must(os.Executable()), "-work", kind, "-path", filepath.Join(dir, "leases.db"),
			"-index", strconv.Itoa(i), "-count", strconv.Itoa(size))
		cmd.Stderr = os.Stderr
		in, out := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
		check(cmd.Start())
		c.in, c.out, c.cmd = append(c.in, in), append(c.out, bufio.NewReader(out)), append(c.cmd, cmd)
	}
	c.answers()
	return c, func() {
		for i, in := range c.in {
			check(in.Close())
			check(c.cmd[i].Wait())
		}
		remove()
	}
}

func (c *crew) answers() {
	for _, out := range c.out {
		must(out.ReadString('\n'))
	}
}

// phase is how long all take for it together.
func (c *crew) phase(name string) time.Duration {
	from := time.Now()
	for _, in := range c.in {
		must(io.WriteString(in, name+"\n"))
	}
	c.answers()
	return time.Since(from)
}

// cycle does all phases, and gives the nanoseconds for a lease in each.
func (c *crew) cycle(size int) []float64 {
	costs := make([]float64, len(phases))
	for i, name := range phases {
		costs[i] = float64(c.phase(name)) / float64(size)
	}
	return costs
}

func crewSeries(kind, title string, ours bool, sizes []int) Series {
	var curves []string
	for _, phase := range phases {
		curves = append(curves, title+": "+phase)
	}
	return Series{Curves: curves, Ours: ours, Sizes: sizes, Open: func(_ *Session, size int) (func() []float64, func()) {
		c, stop := startCrew(kind, size)
		// Until the WAL has grown; see freshWAL.
		for commits := 0; commits < freshWAL; commits += 3 * size {
			c.cycle(size)
		}
		return func() []float64 { return c.cycle(size) }, stop
	}}
}

func leaseScale() Scale {
	sizes := []int{100, 1_000, 10_000}
	return Scale{
		Name: "leases", Title: "Leases in one database, shared by 8 processes that all are busy", XLabel: "leases",
		One: "by hand: acquire",
		Series: []Series{
			crewSeries("tether", "tether", true, sizes),
			crewSeries("raw", "by hand", false, sizes),
		},
	}
}
