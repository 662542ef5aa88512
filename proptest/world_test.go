package proptest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/proptest"
)

func newWorld(t *testing.T, seed uint64) *proptest.World {
	w := proptest.SeededWorld(seed)
	t.Cleanup(w.Close)
	w.MakeDir("/var/lib")
	return w
}

// inOne runs code in one process, to its end.
func inOne(w *proptest.World, code func(p *proptest.Process)) {
	p := w.StartCode("one", code)
	for p.Alive() {
		w.Settle()
	}
}

func read(p *proptest.Process, path string) string {
	data, err := p.Platform().FS.ReadFile(path, 100)
	if err != nil {
		return string(platform.ReasonOf(err))
	}
	return string(data)
}

func TestWorldPowerCutDropsWhatIsNotSynced(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(40) {
		w := newWorld(t, seed)
		inOne(w, func(p *proptest.Process) {
			fs := p.Platform().FS
			for _, name := range []string{"atomic", "whole"} {
				if err := fs.WriteAtomic("/var/lib/"+name, []byte("old")); err != nil {
					t.Error(err)
				}
			}
			if err := fs.WriteAtomic("/var/lib/atomic", []byte("new")); err != nil {
				t.Error(err)
			}
			if err := fs.WriteWhole("/var/lib/whole", []byte("new")); err != nil {
				t.Error(err)
			}
			if created, err := fs.CreateExclusive("/var/lib/fresh", []byte("new")); !created || err != nil {
				t.Error(created, err)
			}
		})
		w.PowerCut()
		inOne(w, func(p *proptest.Process) {
			if got := read(p, "/var/lib/atomic"); got != "new" {
				t.Errorf("what was synced is %q", got)
			}
			seen["whole "+read(p, "/var/lib/whole")] = true
			seen["fresh "+read(p, "/var/lib/fresh")] = true
		})
		w.Close()
	}
	for _, want := range []string{"whole old", "whole new", "whole ", "fresh not-found", "fresh new", "fresh "} {
		if !seen[want] {
			t.Errorf("no power cut left %q; seen are %v", want, seen)
		}
	}
}

func TestWorldFullDiskAndErrorsOnDemand(t *testing.T) {
	w := newWorld(t, 1)
	w.SetCapacity(10)
	inOne(w, func(p *proptest.Process) {
		fs := p.Platform().FS
		if err := fs.WriteAtomic("/var/lib/a", []byte("12345")); err != nil {
			t.Error(err)
		}
		if err := fs.WriteAtomic("/var/lib/b", []byte("123456")); platform.ReasonOf(err) != platform.ReasonNoSpace {
			t.Error(err)
		}
		w.OnOp(func(o proptest.Op) error {
			if o.Name == "ReadFile" && o.Path == "/var/lib/a" {
				return proptest.FailWith(o, platform.ReasonPermission)
			}
			return nil
		})
		if got := read(p, "/var/lib/a"); got != "permission" {
			t.Error(got)
		}
		w.OnOp(nil)
		if got := read(p, "/var/lib/a"); got != "12345" {
			t.Error(got)
		}
	})
	if files := w.Files(); !slices.Equal(files, []string{"/var/lib/a"}) {
		t.Error(files)
	}
}

func TestWorldReusesPids(t *testing.T) {
	w := newWorld(t, 1)
	first := w.StartCode("first", func(p *proptest.Process) { p.Pause(time.Hour) })
	w.Settle()
	other := w.StartCode("other", func(p *proptest.Process) {
		judge := func() platform.Liveness {
			l, err := platform.JudgeHolder(p.Platform().Process, first.Identity())
			if err != nil {
				t.Error(err)
			}
			return l
		}
		if got := judge(); got != platform.Alive {
			t.Error(got)
		}
		p.Pause(time.Second)
		if got := judge(); got != platform.Dead {
			t.Error(got)
		}
	})
	w.Settle()
	first.Kill()
	again := w.StartCode("again", func(p *proptest.Process) { p.Pause(time.Hour) })
	if again.Identity().PID != first.Identity().PID || again.Identity() == first.Identity() {
		t.Errorf("%v after %v", again.Identity(), first.Identity())
	}
	w.Advance(2 * time.Second)
	if other.Alive() {
		t.Error("it has not ended")
	}
	w.PowerCut()
	if last := w.StartCode("last", func(*proptest.Process) {}); last.Identity().BootID == again.Identity().BootID {
		t.Error("the boot is the same")
	}
}

func TestWorldClocks(t *testing.T) {
	w := newWorld(t, 1)
	var ticks []string
	program := func(p *proptest.Process) effect.Effect[effect.Unit] {
		return effect.GenUnit(func(do *effect.Do) {
			start := do.Await(effect.Now())
			for range 3 {
				do.Await(effect.Sleep(10 * time.Second))
				ticks = append(ticks, fmt.Sprintf("%v at %v, own %v, wall %v", p, w.Now(), do.Await(effect.Monotonic()), do.Await(effect.Now()).Sub(start)))
			}
		})
	}
	w.SetQuantum(time.Second)
	even := w.Start("even", program)
	w.Start("fast", program, proptest.Rate(2))
	w.Settle()
	w.Advance(12 * time.Second)
	even.JumpWall(-time.Hour)
	even.Stop()
	w.Advance(30 * time.Second)
	even.Resume()
	w.Advance(20 * time.Second)
	want := []string{
		"fast(2) at 5s, own 10s, wall 10s", "even(1) at 10s, own 10s, wall 10s", "fast(2) at 10s, own 20s, wall 20s", "fast(2) at 15s, own 30s, wall 30s",
		// Its timer of 20s fires late, when it resumes.
		"even(1) at 43s, own 43s, wall -59m17s", "even(1) at 53s, own 53s, wall -59m7s",
	}
	slices.Sort(ticks)
	slices.Sort(want)
	if !slices.Equal(ticks, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(ticks, "\n"), strings.Join(want, "\n"))
	}
	if len(w.Processes()) > 0 {
		t.Error(w.Processes())
	}
}

// A process that is killed runs no finalizer that anybody sees, wherever it was.
func TestWorldKillAtEveryStep(t *testing.T) {
	for steps := range 40 {
		w := newWorld(t, 1)
		p := w.Start("one", func(p *proptest.Process) effect.Effect[effect.Unit] {
			write := func(text string) effect.Effect[effect.Unit] {
				return effect.Try(func() (effect.Unit, error) {
					return effect.Unit{}, p.Platform().FS.WriteAtomic("/var/lib/state", []byte(text))
				})
			}
			hold := effect.AcquireRelease(write("held"), func(effect.Unit, exit) effect.Effect[effect.Unit] { return write("free").Ignore() })
			return effect.Scoped(hold.AndThen(effect.Sleep(time.Second)).AndThen(effect.ForkDetach(effect.Never[effect.Unit]())).AndThen(effect.Sleep(time.Hour)))
		})
		p.Run(steps)
		if steps%2 == 0 {
			w.Advance(10 * time.Second)
		}
		p.Kill()
		inOne(w, func(p *proptest.Process) {
			if got := read(p, "/var/lib/state"); got == "free" {
				t.Errorf("killed after %d steps it released", steps)
			}
		})
		w.Close()
	}
}

func TestWorldLocksAndFiles(t *testing.T) {
	for _, option := range [][]processlock.Option{nil, {processlock.WithoutSQLite()}} {
		w := newWorld(t, 3)
		state := func(p *proptest.Process) string {
			a, err := processlock.Begin(p.Platform(), "/var/lib/lock", option...)
			if err != nil {
				return err.Error()
			}
			step := a.Try()
			if step.Err != nil {
				return step.Err.Error()
			}
			return fmt.Sprint(step.Lock != nil)
		}
		holder := w.StartCode("holder", func(p *proptest.Process) {
			if got := state(p); got != "true" {
				t.Error(got)
			}
			p.Pause(time.Hour)
		})
		w.Settle()
		inOne(w, func(p *proptest.Process) {
			if got := state(p); !strings.Contains(got, "held by pid 1 on host world") {
				t.Error(got)
			}
		})
		holder.Kill()
		inOne(w, func(p *proptest.Process) {
			if got := state(p); got != "true" {
				t.Error(got)
			}
		})
	}
}

// The files' repository on a simulated disk.
func TestWorldFileRepository(t *testing.T) {
	w := newWorld(t, 1)
	var generations []int64
	program := func(p *proptest.Process) effect.Effect[effect.Unit] {
		return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			r := lease.NewFileRepository(p.Platform(), "/var/lib")
			m := do.Try(lease.NewManager(p.Platform(), r, lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
			l := do.Await(m.Acquire("key", lease.Wait()))
			generations = append(generations, l.Token().Generation)
			do.Await(effect.Sleep(time.Hour))
		}))
	}
	first := w.Start("first", program)
	w.Advance(time.Second)
	w.Start("second", program)
	w.Advance(10 * time.Minute)
	first.Kill()
	// A dead holder is taken over at the next try (L18), not after its TTL.
	w.Advance(20 * time.Second)
	w.PowerCut()
	w.Start("third", program)
	w.Advance(time.Minute)
	if !slices.Equal(generations, []int64{1, 2, 3}) {
		t.Errorf("%v\n%s", generations, w.Trace())
	}
}

func TestWorldHasNoSQL(t *testing.T) {
	w := newWorld(t, 1)
	inOne(w, func(p *proptest.Process) {
		if _, err := p.Platform().SQLite.Open("/var/lib/x", platform.OpenOrCreate); platform.ReasonOf(err) != platform.ReasonUnsupported {
			t.Error(err)
		}
	})
}
