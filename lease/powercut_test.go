package lease_test

import (
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// silent tells nobody of releases that the power cut off.
var silent = lease.Config{TTL: ttl, Heartbeat: heartbeat, Observer: func(lease.Event) {}}

// lives is what a process does until the power goes: it takes the lease, renews it,
// works under it and releases it, twice. given hears of every token that it was given.
func lives(m *lease.Manager, given func(lease.FencingToken)) effect.Effect[unit] {
	once := in(m.Acquire(key, lease.Wait()).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
		given(l.Token())
		return effect.Sleep(2 * heartbeat).AndThen(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
			return effect.Sleep(heartbeat)
		}))
	}))
	return once.AndThen(once)
}

// L2: the power is cut before each write of acquisitions, renewals, fenced work and
// releases on files; whatever of the writes that were not synced is on the disk after
// the restart, no generation that was given to anybody is given again, and the lease
// can be had. R5: temporary files that name a process of before the cut go away.
func TestL2_PowerCutOnFiles(t *testing.T) {
	kinds := []uint64{0, 1, 2, 3, 4, 5, 6, 7}
	if raced { // one fiber runs at a time, so that there is little to race
		kinds = []uint64{0, 1, 6} // nothing, everything, a part
	}
	cuts, restarts, swept := 0, 0, 0
	for cutAt := 1; ; cutAt++ {
		d := newDisk()
		d.cutAt = cutAt
		var last int64
		boot(d, "first", func(p *platform.Platform) effect.Effect[unit] {
			m, err := lease.NewManager(p, lease.NewFileRepository(p, diskDir, lease.WithoutSQLite()), silent)
			if err != nil {
				t.Fatal(err)
			}
			return lives(m, func(token lease.FencingToken) {
				if !d.isOff() {
					last = token.Generation
				}
			}).Timeout(time.Hour).Ignore()
		})
		if !d.isOff() {
			break
		}
		cuts++
		for _, kind := range kinds {
			restarts++
			after := d.image(drawing(kind))
			left := len(after.temporaries())
			var next int64
			out := boot(after, "second", func(p *platform.Platform) effect.Effect[unit] {
				m, err := lease.NewManager(p, lease.NewFileRepository(p, diskDir, lease.WithoutSQLite()), silent)
				if err != nil {
					t.Fatal(err)
				}
				return lives(m, func(token lease.FencingToken) {
					if next == 0 {
						next = token.Generation
					}
				})
			})
			exit, ended := out.Exit.Get()
			if !ended || exit.IsFailure() {
				t.Fatalf("power cut at %d, image %d: %v\n%s", cutAt, kind, out.Exit, out.Report)
			}
			swept += left - len(after.temporaries())
			if next <= last {
				t.Fatalf("power cut at %d, image %d: generation %d was given again after %d", cutAt, kind, next, last)
			}
		}
	}
	t.Logf("%d power cuts, %d restarts, %d temporary files swept", cuts, restarts, swept)
	if cuts < 50 || swept < 50 {
		t.Error("too few")
	}
}

// boot runs a program on the disk as the machine's only process.
func boot(d *disk, id string, program func(*platform.Platform) effect.Effect[unit]) effect.RunReport[unit] {
	rt := scope.NewDeterministic(scope.DeterministicConfig{MaxSteps: 1_000_000})
	d.now = rt.Clock().Now
	proc := newProcess(1)
	proc.self.BootID = id
	proc.runs(proc.self)
	return effect.RunDeterministicOn(rt, program(&platform.Platform{FS: d, Process: proc, Clock: rt.Clock()}))
}
