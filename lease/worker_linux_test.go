package lease_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
	"golang.org/x/sys/unix"
)

// setup is what a worker's first command is about.
type setup struct {
	Store                 string // a name in stores
	Dir                   string
	Log                   string // every fenced work writes into it
	Serial                int
	TTL, Heartbeat, Retry time.Duration
	// StopAt: at this phase the worker stops itself (SIGSTOP), the first time.
	StopAt string
	// Phases: it tells of every phase.
	Phases bool
	// Hold: a contender holds that many leases more, of keys that belong to its slot.
	Hold, Slot int
}

// command is what a worker is told to do.
type command struct {
	Setup  *setup `json:",omitempty"` // of the first
	Do     string // acquire, fenced, lost, release, contend, transaction, guard, fence, save, swap, history, stop
	Wait   bool
	Path   string // of a transaction's database, of a guard
	Repeat int    // of swap, history
	Mode   string // of history: swap, lease
	Client int    // of history
	Phase  string // of stop: where the worker stops itself
}

// reply is what it says.
type reply struct {
	Do         string `json:",omitempty"`
	OK         bool   `json:",omitempty"`
	Phase      string `json:",omitempty"`
	Generation int64  `json:",omitempty"`
	HolderPID  int64  `json:",omitempty"`
	Tag        string `json:",omitempty"`
	Reason     string `json:",omitempty"`
	Text       string `json:",omitempty"`
	At         int64  `json:",omitempty"` // CLOCK_MONOTONIC in nanoseconds, which processes share
	Index      int    `json:",omitempty"` // of an operation of a history, of a held key
	Step       *step  `json:",omitempty"`
}

// stores open a repository as any process does, in a directory.
var stores = map[string]func(dir string) lease.Repository{
	"sqlite": func(dir string) lease.Repository {
		return lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "leases.db"))
	},
	"files": func(dir string) lease.Repository { return lease.NewFileRepository(platform.OS(), dir) },
	"files without SQLite": func(dir string) lease.Repository {
		return lease.NewFileRepository(platform.OS(), dir, lease.WithoutSQLite())
	},
}

func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// worker is this process when it is one.
type worker struct {
	setup
	out     sync.Mutex
	encoder *json.Encoder
	log     *os.File
	manager *lease.Manager

	held  *lease.Lease
	scope *scope.Scope
	// holding is held by the plain methods.
	holding *lease.Holding
}

// work runs commands until the input ends, and then exits as it is.
func work() {
	in := json.NewDecoder(os.Stdin)
	var first command
	if err := in.Decode(&first); err != nil {
		os.Exit(2)
	}
	w := &worker{setup: *first.Setup, encoder: json.NewEncoder(os.Stdout)}
	if child.Among() {
		unix.Umask(0o002) // for the log
	}
	var err error
	if w.Log != "" {
		if w.log, err = os.OpenFile(w.Log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o664); err != nil {
			panic(err)
		}
	}
	w.manager, err = lease.NewManager(platform.OS(), newPhased(stores[w.Store](w.Dir), w),
		lease.Config{TTL: w.TTL, Heartbeat: w.Heartbeat, Retry: w.Retry, Observer: func(e lease.Event) {
			if _, gaveUp := e.(lease.ReleaseAbandoned); gaveUp {
				w.say(reply{Do: "abandoned"})
			}
		}})
	if err != nil {
		panic(err)
	}
	for {
		var c command
		if in.Decode(&c) != nil {
			os.Exit(0)
		}
		switch c.Do {
		case "acquire":
			w.acquire(c)
		case "fenced":
			go w.fenced()
		case "lost":
			held := w.held
			go func() {
				_, err := effect.Run(context.Background(), held.Lost())
				w.say(answer("lost", err))
			}()
		case "release":
			_, err := effect.Run(context.Background(), effect.CloseScope(w.scope, scope.ExitSucceed(0)))
			w.say(answer("release", err))
		case "contend":
			go w.contend()
		case "transaction":
			conn, err := platform.OS().SQLite.Open(c.Path, platform.OpenExisting)
			if err == nil {
				err = conn.Exec("BEGIN IMMEDIATE")
			}
			w.say(answer("transaction", err))
		case "guard":
			var options []processlock.Option
			if w.Store == "files without SQLite" {
				options = append(options, processlock.WithoutSQLite())
			}
			_, err := processlock.Acquire(context.Background(), platform.OS(), c.Path, options...).Get()
			w.say(answer("guard", err))
		case "fence": // alone, and held from then on
			_, err := effect.Run(context.Background(), stores[w.Store](w.Dir).Fence(key).ProvideScope(scope.New(scope.Sequential)))
			w.say(answer("fence", err))
		case "save":
			_, err := effect.Run(context.Background(), stores[w.Store](w.Dir).Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
			w.say(answer("save", err))
		case "swap":
			w.swap(c.Repeat)
		case "history":
			w.history(c)
		case "stop":
			w.out.Lock()
			w.StopAt = c.Phase
			w.out.Unlock()
		default:
			w.plain(c)
		}
	}
}

func (w *worker) say(r reply) {
	w.out.Lock()
	defer w.out.Unlock()
	_ = w.encoder.Encode(r)
}

func answer(do string, err error) reply {
	r := reply{Do: do, OK: err == nil, At: monotonic()}
	if err == nil {
		return r
	}
	r.Tag, r.Text = errors.TagOf(err), err.Error()
	if held, ok := errors.AsType[*lease.Held](err); ok {
		r.HolderPID, r.Generation = held.Holder.PID, held.Generation
	}
	if f, ok := errors.AsType[*lease.RepositoryFailure](err); ok {
		r.Reason = string(f.Reason)
	}
	if lost, ok := errors.AsType[*lease.Lost](err); ok {
		r.Reason = string(lost.Reason)
	}
	return r
}

func (w *worker) acquire(c command) {
	var options []lease.AcquireOption
	if c.Wait {
		options = append(options, lease.Wait())
	}
	s := scope.New(scope.Sequential)
	l, err := effect.Run(context.Background(), w.manager.Acquire(key, options...).ProvideScope(s))
	r := answer("acquire", err)
	if err == nil {
		w.held, w.scope = l, s
		r.Generation = l.Token().Generation
	}
	w.say(r)
}

// swap replaces what it has read, again and again, and says how often that worked. On
// a crowded machine others may keep it waiting for as long as a call waits at all, and
// not for less: then nothing was written.
func (w *worker) swap(repeat int) {
	r := stores[w.Store](w.Dir)
	won := 0
	for range repeat {
		began := time.Now()
		_, err := effect.Run(context.Background(), r.Load(key).FlatMap(func(stored mo.Option[lease.Record]) effect.Effect[unit] {
			next := record(1, stored.OrEmpty().Revision+1, holderOf(9), "x")
			expected := mo.None[int64]()
			if old, ok := stored.Get(); ok {
				expected = mo.Some(old.Revision)
			}
			return r.Save(key, next, expected)
		}))
		if f, ok := errors.AsType[*lease.RepositoryFailure](err); ok && f.Reason == lease.RepositoryBusy && time.Since(began) >= 500*time.Millisecond {
			continue
		}
		if _, conflict := errors.AsType[*lease.RevisionConflict](err); err != nil && !conflict {
			w.say(answer("swap", err))
			return
		}
		if err == nil {
			won++
		}
	}
	w.say(reply{Do: "swap", OK: true, Generation: int64(won)})
}

// write is one entry of the log, in one write.
func (w *worker) write(what string, token lease.FencingToken) effect.Effect[unit] {
	return effect.Try(func() (unit, error) {
		_, err := fmt.Fprintf(w.log, "%s %d %d\n", what, w.Serial, token.Generation)
		return unit{}, err
	})
}

// fenced works until it is interrupted.
func (w *worker) fenced() {
	_, err := effect.Run(context.Background(), w.held.RunFenced(func(token lease.FencingToken) effect.Effect[unit] {
		return w.write("begin", token).
			AndThen(effect.SyncUnit(func() { w.say(reply{Do: "began", At: monotonic()}) })).
			AndThen(effect.Never[unit]()).
			Ensuring(w.write("end", token).OrDie())
	}))
	w.say(answer("ended", err))
}

// slotKey is one of the keys that a contender holds all the time.
func slotKey(slot, i int) string { return fmt.Sprint("slot:", slot, "/", i) }

// hold takes the keys of its slot, which a predecessor may have been killed with.
func (w *worker) hold() error {
	s := scope.New(scope.Sequential)
	for i := range w.Hold {
		l, err := effect.Run(context.Background(), w.manager.Acquire(slotKey(w.Slot, i), lease.Wait()).ProvideScope(s))
		if err != nil {
			return err
		}
		w.say(reply{Do: "held", Index: i, Generation: l.Token().Generation})
	}
	return nil
}

// contend takes the lease, works under it and releases it, over and over.
func (w *worker) contend() {
	if err := w.hold(); err != nil {
		w.say(answer("failed", err))
		return
	}
	work := func(token lease.FencingToken) effect.Effect[unit] {
		pause := effect.Suspend(func() effect.Effect[unit] {
			d := time.Duration(rand.IntN(int(time.Millisecond)))
			if rand.IntN(20) == 0 {
				d += w.Heartbeat // a renewal comes meanwhile
			}
			return effect.Sleep(d)
		})
		return w.write("begin", token).AndThen(pause).AndThen(w.write("more", token)).AndThen(pause).
			AndThen(w.write("more", token)).Ensuring(w.write("end", token).OrDie())
	}
	once := in(w.manager.Acquire(key, lease.Wait()).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
		w.say(reply{Do: "acquired", Generation: l.Token().Generation})
		// The lease may rightly be lost, on a machine that is slow enough.
		return l.RunFenced(work).CatchTag(func(*lease.Lost) effect.Effect[unit] { return effect.Void() }).
			CatchTag(func(*lease.FenceRejected) effect.Effect[unit] { return effect.Void() })
	}))
	_, err := effect.Run(context.Background(), once.Forever())
	w.say(answer("failed", err))
}
