package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/rivus/tether/lease"
)

// limit ends a run that hangs.
const limit = 14 * time.Second

// director is the parent: it starts the workers, hears them, and plays fate.
type director struct {
	dir      string
	started  time.Time
	deadline <-chan time.Time
	heard    chan message
	readers  conc.WaitGroup // of what the workers say
	workers  map[string]*child
	refusals []message
}

// direct runs the play and checks its end.
func direct() error {
	dir, err := os.MkdirTemp("", "tether-takeover-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &director{
		dir: dir, started: time.Now(), deadline: time.After(limit),
		heard: make(chan message), workers: map[string]*child{},
	}
	defer d.killAll()
	if err := d.play(); err != nil {
		return err
	}
	return d.check()
}

func (d *director) play() error {
	for _, name := range []string{"A", "B", "C"} {
		if err := d.start(name); err != nil {
			return err
		}
	}
	holder, err := d.await("the first acquisition", d.is(acquired, 1))
	if err != nil {
		return err
	}
	for generation := int64(1); generation <= 2; generation++ {
		if holder, err = d.killHolder(holder, generation); err != nil {
			return err
		}
	}
	if err := d.stopHolder(holder, 3); err != nil {
		return err
	}
	return d.end()
}

// killHolder lets the holder write twice, kills it and waits for its successor.
func (d *director) killHolder(holder message, generation int64) (message, error) {
	if err := d.awaitWrites(generation, 2); err != nil {
		return message{}, err
	}
	d.say("kill -9 worker %s (pid %d)", holder.Worker, holder.PID)
	at := time.Now()
	d.workers[holder.Worker].kill()
	next, err := d.await("a takeover", d.is(acquired, generation+1))
	if err != nil {
		return next, err
	}
	d.say("  taken over from the dead holder in %v", time.Since(at).Round(time.Millisecond))
	return next, d.start(holder.Worker)
}

// stopHolder stops the holder for longer than its TTL, and lets it go on when
// its successor has written.
func (d *director) stopHolder(holder message, generation int64) error {
	if err := d.awaitWrites(generation, 2); err != nil {
		return err
	}
	stopped := d.workers[holder.Worker]
	if err := stopped.tell(cmdPause); err != nil {
		return err
	}
	if _, err := d.await("the holder's pause", d.is(paused, generation)); err != nil {
		return err
	}
	d.say("SIGSTOP to worker %s (pid %d)", holder.Worker, holder.PID)
	at := time.Now()
	if err := stopped.stop(); err != nil {
		return err
	}
	if _, err := d.await("a takeover", d.is(acquired, generation+1)); err != nil {
		return err
	}
	d.say("  taken over from the silent holder in %v, its TTL is %v", time.Since(at).Round(time.Millisecond), config.TTL)
	if err := d.awaitWrites(generation+1, 2); err != nil {
		return err
	}
	d.say("SIGCONT to worker %s (pid %d), which wants to write on", holder.Worker, holder.PID)
	if err := stopped.tell(cmdResume); err != nil {
		return err
	}
	if err := stopped.resume(); err != nil {
		return err
	}
	// The fence refuses, and so would the log.
	for range 2 {
		if _, err := d.await("a refused write", d.is(refused, generation)); err != nil {
			return err
		}
	}
	return d.awaitWrites(generation+1, 1)
}

// end lets every worker release and end by itself.
func (d *director) end() error {
	left := 0
	for _, c := range d.workers {
		if c.alive {
			c.finish()
			left++
		}
	}
	for range left {
		m, err := d.await("the end of a worker", func(m message) bool {
			return m.What == gone && m.PID == d.workers[m.Worker].cmd.Process.Pid
		})
		if err != nil {
			return err
		}
		if m.Text != "" {
			return fmt.Errorf("worker %s ended with %s", m.Worker, m.Text)
		}
	}
	return nil
}

// check reads the log: of every generation somebody wrote, and none came back.
func (d *director) check() error {
	tokens, err := readLog(filepath.Join(d.dir, "task.log"))
	if err != nil {
		return err
	}
	var order []string
	last := lease.FencingToken{Key: key}
	for i, token := range tokens {
		if token.Key != key || token.Generation < last.Generation {
			return fmt.Errorf("line %d of the log is of %v, after %v", i+1, token, last)
		}
		if token.Generation > last.Generation {
			order = append(order, fmt.Sprint(token.Generation))
		}
		last = token
	}
	if len(order) < 4 {
		return fmt.Errorf("only generations %v wrote", order)
	}
	if len(d.refusals) < 2 {
		return fmt.Errorf("%d writes were refused, want 2", len(d.refusals))
	}
	d.say("the log has %d lines, of generations %s in this order; %d late writes were refused",
		len(tokens), strings.Join(order, ", "), len(d.refusals))
	return nil
}

func (d *director) is(w what, generation int64) func(message) bool {
	return func(m message) bool { return m.What == w && m.Generation == generation }
}

func (d *director) awaitWrites(generation int64, n int) error {
	for range n {
		if _, err := d.await(fmt.Sprintf("writes of generation %d", generation), d.is(wrote, generation)); err != nil {
			return err
		}
	}
	return nil
}

// await shows what is heard until it is what is waited for.
func (d *director) await(name string, wanted func(message) bool) (message, error) {
	for {
		select {
		case m := <-d.heard:
			if err := d.show(m); err != nil {
				return m, err
			}
			if wanted(m) {
				return m, nil
			}
		case <-d.deadline:
			return message{}, fmt.Errorf("%s did not come in %v", name, limit)
		}
	}
}

func (d *director) show(m message) error {
	switch m.What {
	case acquired:
		d.say("generation %d: worker %s (pid %d) has the lease", m.Generation, m.Worker, m.PID)
	case isHeld:
		d.say("worker %s is refused: %s", m.Worker, m.Text)
	case refused:
		d.refusals = append(d.refusals, m)
		d.say("late write of worker %s, generation %d, refused: %s", m.Worker, m.Generation, m.Text)
	case malformed:
		return fmt.Errorf("worker %s: %s", m.Worker, m.Text)
	}
	return nil
}

func (d *director) say(format string, args ...any) {
	fmt.Printf("%6.2f s  %s\n", time.Since(d.started).Seconds(), fmt.Sprintf(format, args...))
}
