package main

import (
	"context"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/samber/mo"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// diskDir is where databases are made; it must be on a disk for what is measured to
// mean anything. "" is the system's directory for temporary files.
var diskDir string

// leaseConfig has heartbeats that never come in a sample, but for a clock that is
// put forward.
var leaseConfig = lease.Config{TTL: 4 * time.Hour, Heartbeat: time.Hour}

// store is a manager on a database of its own.
type store struct {
	repository *lease.SQLite
	manager    *lease.Manager
	clock      *shiftedClock
	// renewed counts renewals, and failed those that were not confirmed; change gets
	// a value, unless it has one, when either changes.
	renewed, failed atomic.Int64
	change          chan struct{}
}

func openStore(path string) *store {
	s := &store{
		repository: lease.NewSQLiteRepository(platform.OS(), path),
		clock:      newShiftedClock(), change: make(chan struct{}, 1),
	}
	config := leaseConfig
	config.Observer = func(e lease.Event) {
		switch e.(type) {
		case lease.Renewed:
			s.renewed.Add(1)
		case lease.RenewalFailed:
			s.failed.Add(1)
		default:
			return
		}
		wake(s.change)
	}
	s.manager = must(lease.NewManager(platform.OS(), s.repository, config))
	return s
}

// run runs body on a fiber, with the clock that can be put forward.
func (s *store) run(body func(do *effect.Do)) {
	exit := effect.RunExitOn(context.Background(), scope.NewParallel(scope.OnClock(s.clock)), effect.GenUnit(body))
	check(exit.Err())
}

// renewAll lets the heartbeats of the count leases that are held come, one at a time,
// until there were as many renewals.
func (s *store) renewAll(count int) {
	const timers = 2 // of each lease: the heartbeat's and that of the trust
	for until := s.renewed.Load() + int64(count); s.renewed.Load() < until; {
		s.clock.next()
		if s.clock.set() < timers*count {
			<-s.change
		}
		// A timer that is being set while the time moves would come late by as much.
		for s.clock.set() < timers*count {
			runtime.Gosched()
		}
	}
}

// awaitHeartbeats waits until those of count leases have begun.
func (s *store) awaitHeartbeats(count int) {
	for s.clock.set() < 2*count {
		runtime.Gosched()
	}
}

// hold acquires the keys in a new scope.
func (s *store) hold(do *effect.Do, keys []string) *scope.Scope {
	at := scope.New(scope.Sequential)
	for _, key := range keys {
		do.Await(s.manager.Acquire(key).ProvideScope(at))
	}
	return at
}

func release(do *effect.Do, at *scope.Scope) {
	do.Await(effect.CloseScope(at, scope.ExitSucceed(0)))
}

// freshWAL is how many commits a new WAL gets before it is measured: its file grows
// in the first thousand, which costs about as much again.
const freshWAL = 1100

// onStore is a subject on a manager's database in which the keys have records.
func onStore(keys []string, per int, body func(s *store, do *effect.Do, n int, t Timer)) Subject {
	return Subject{Name: "tether", Per: per, Open: func() (Work, func()) {
		dir, remove := temporary(diskDir)
		s := openStore(filepath.Join(dir, "leases.db"))
		s.run(func(do *effect.Do) {
			for commits := 0; commits < freshWAL; commits += 2 * len(keys) {
				release(do, s.hold(do, keys))
			}
		})
		return func(n int, t Timer) {
				t.StopTimer()
				s.run(func(do *effect.Do) { body(s, do, n, t) })
			}, func() {
				check(s.repository.Close())
				remove()
			}
	}}
}

// byHand is a subject on a hand-written database.
func byHand(name, level string, keys []string, each func(r *rawLeases, key string)) Subject {
	return handWritten(name, level, keys, openRaw, each)
}

func throughSQL(level string, keys []string, each func(r *sqlLeases, key string)) Subject {
	return handWritten("the same through database/sql", level, keys, openSQL, each)
}

type leaseTable interface {
	swap(key string, raises, holds bool)
	close()
}

func handWritten[T leaseTable](name, level string, keys []string, open func(path, level string, keys []string) T, each func(r T, key string)) Subject {
	return Subject{Name: name, Per: len(keys), Open: func() (Work, func()) {
		dir, remove := temporary(diskDir)
		r := open(filepath.Join(dir, "raw.db"), level, keys)
		for commits := 0; commits < freshWAL; commits += len(keys) {
			for _, key := range keys {
				r.swap(key, true, true)
			}
		}
		return func(n int, _ Timer) {
				for range n {
					for _, key := range keys {
						each(r, key)
					}
				}
			}, func() {
				r.close()
				remove()
			}
	}}
}

// saves is a subject that writes through the repository alone, over records that a
// manager has made and that are tombstones again in the end.
func saves(keys []string, next func(lease.Record) lease.Record) Subject {
	var records []lease.Record
	return onStore(keys, len(keys), func(s *store, do *effect.Do, n int, t Timer) {
		records = records[:0]
		at := s.hold(do, keys)
		for _, key := range keys {
			records = append(records, do.Await(s.repository.Load(key)).MustGet())
		}
		save := func(i int, next lease.Record) {
			do.Await(s.repository.Save(keys[i], next, mo.Some(records[i].Revision)))
			records[i] = next
		}
		t.StartTimer()
		for range n {
			for i, r := range records {
				save(i, next(r))
			}
		}
		t.StopTimer()
		for i, r := range records {
			r.Revision++
			r.Holder, r.HolderID = mo.None[lease.Holder](), mo.None[string]()
			save(i, r)
		}
		release(do, at)
	})
}

func leases() Group {
	keys, many := keysOf(100), keysOf(1000)
	const (
		swap      = "`BEGIN IMMEDIATE`, compare-and-set, `COMMIT` by hand, "
		full      = "FULL"
		normal    = "NORMAL"
		acquired  = 1.15
		unsynced  = 1.3
		readRatio = 1.5
	)
	acquireRaw := func(r *rawLeases, key string) { r.swap(key, true, true) }
	renewRaw := func(r *rawLeases, key string) { r.swap(key, false, true) }
	releaseRaw := func(r *rawLeases, key string) { r.swap(key, false, false) }
	return Group{"Leases", []Row{
		{
			Name: "lease-acquire", Work: "lease: `Acquire` (reads, writes with FULL, starts a heartbeat)", Unit: "lease",
			Floor: "It also reads the record, since it may only write over what it saw, and starts a fiber and its timers; the sync is the floor of both.",
			Ours: onStore(keys, len(keys), func(s *store, do *effect.Do, n int, t Timer) {
				for range n {
					t.StartTimer()
					at := s.hold(do, keys)
					t.StopTimer()
					release(do, at)
				}
			}),
			Against: []Reference{
				byHand(swap+"WAL, FULL, same driver", full, keys, acquireRaw).goal(acquired),
				throughSQL(full, keys, func(r *sqlLeases, key string) { r.swap(key, true, true) }).goal(0),
			},
		},
		{
			Name: "lease-acquire-save", Work: "lease: `Repository.Save` of an acquisition", Unit: "write",
			Floor: "The sync is the floor of both.",
			Ours: saves(keys, func(r lease.Record) lease.Record {
				r.Generation++
				r.Revision++
				return r
			}),
			Against: []Reference{byHand(swap+"WAL, FULL, same driver", full, keys, acquireRaw).goal(acquired)},
		},
		{
			Name: "lease-renew", Work: "lease: renewal by the heartbeat, from its timer to its confirmation", Unit: "renewal",
			Floor: "The floor is the write; waking the heartbeat's fiber, its timers and a look whether the file is still the same come on top.",
			Ours: onStore(keys, 1, func(s *store, do *effect.Do, n int, t Timer) {
				at := s.hold(do, keys[:1])
				s.awaitHeartbeats(1)
				t.StartTimer()
				for range n {
					s.renewAll(1)
				}
				t.StopTimer()
				release(do, at)
			}),
			Against: []Reference{byHand(swap+"WAL, NORMAL, same driver", normal, keys, renewRaw).goal(unsynced)},
		},
		{
			Name: "lease-renew-save", Work: "lease: `Repository.Save` of a renewal", Unit: "write",
			Floor: "It also looks whether the path still leads to the same file.",
			Ours: saves(keys, func(r lease.Record) lease.Record {
				r.Revision++
				return r
			}),
			Against: []Reference{
				byHand(swap+"WAL, NORMAL, same driver", normal, keys, renewRaw).goal(unsynced),
				throughSQL(normal, keys, func(r *sqlLeases, key string) { r.swap(key, false, true) }).goal(0),
			},
		},
		{
			Name: "lease-renew-1000", Work: "lease: renewal of 1,000 held leases of one manager", Unit: "renewal",
			Ours: onStore(many, len(many), func(s *store, do *effect.Do, n int, t Timer) {
				at := s.hold(do, many)
				s.awaitHeartbeats(len(many))
				t.StartTimer()
				for range n {
					s.renewAll(len(many))
				}
				t.StopTimer()
				release(do, at)
			}),
			Against: []Reference{
				byHand(swap+"WAL, NORMAL, for each", normal, many, renewRaw).goal(0),
			},
		},
		{
			Name: "lease-release", Work: "lease: release (ends the heartbeat, reads, writes with NORMAL)", Unit: "lease",
			Floor: "It also reads the record again, as rule L10 asks, since it may only write over its own, ends the heartbeat's fiber, and writes on a fiber of its own, which a repository that hangs keeps for a heartbeat at most. The floor is a read and a write.",
			Ours: onStore(keys, len(keys), func(s *store, do *effect.Do, n int, t Timer) {
				for range n {
					at := s.hold(do, keys)
					t.StartTimer()
					release(do, at)
					t.StopTimer()
				}
			}),
			Against: []Reference{byHand(swap+"WAL, NORMAL, same driver", normal, keys, releaseRaw).goal(unsynced)},
		},
		{
			Name: "lease-read", Work: "lease: `Read`", Unit: "read",
			Ours: onStore(keys, len(keys), func(s *store, do *effect.Do, n int, t Timer) {
				at := s.hold(do, keys)
				t.StartTimer()
				for range n {
					for _, key := range keys {
						do.Await(s.manager.Read(key))
					}
				}
				t.StopTimer()
				release(do, at)
			}),
			Against: []Reference{
				byHand("prepared `SELECT` by key, same driver", full, keys, func(r *rawLeases, key string) { r.load(key) }).goal(readRatio),
				throughSQL(full, keys, func(r *sqlLeases, key string) { r.load(key) }).goal(0),
			},
		},
	}}
}
