package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/rivus/tether/internal/sqlite3"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// nameless has no own identity, so no holder file is written.
type nameless struct{ platform.Process }

func (nameless) Self() (platform.Identity, error) {
	return platform.Identity{}, &platform.Failure{Op: "identify", Reason: platform.ReasonUnsupported}
}

func withoutHolderFile() *platform.Platform {
	p := *platform.OS()
	p.Process = nameless{p.Process}
	return &p
}

// inMemory is a new directory on a file system in memory, where there is one. On
// ext4 a loop that creates and removes a file measures something else: each new
// file is searched for past every inode that was freed in the last minute (the
// kernel's recently_deleted), some 150 us after a few thousand, 7 us for a program
// that takes a lock once.
func inMemory() (dir string, remove func()) {
	const shm = "/dev/shm"
	root := ""
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		root = shm
	}
	return temporary(root)
}

func temporary(root string) (dir string, remove func()) {
	dir = must(os.MkdirTemp(root, "tether-bench"))
	return dir, func() { _ = os.RemoveAll(dir) }
}

// onLock is a subject whose work is about a lock file of its own.
func onLock(name string, once func(path string)) Subject {
	return Subject{Name: name, Open: func() (Work, func()) {
		dir, remove := inMemory()
		return func(n int, _ Timer) {
			for range n {
				once(filepath.Join(dir, "l"))
			}
		}, remove
	}}
}

func lockAndRelease(p *platform.Platform, options ...processlock.Option) func(string) {
	return func(path string) {
		lock := must(processlock.Acquire(context.Background(), p, path, options...).Get())
		check(lock.Release())
	}
}

// rawLock is Tether's own driver and nothing around it.
func rawLock(path string) {
	c := must(sqlite3.Open(path, sqlite3.OpenReadWrite|sqlite3.OpenCreate))
	check(c.Exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE"))
	check(c.Exec("ROLLBACK"))
	check(c.Close())
}

func flockAndUnlock(path string) {
	l := flock.New(path)
	assert(must(l.TryLock()), "the file was free")
	check(l.Unlock())
}

// asked is a subject that asks again and again whether a lock is held, from another
// platform value than the holder's: the holder's own answer comes from memory.
func asked(name string, held bool, once func(path string)) Subject {
	return Subject{Name: name, Open: func() (Work, func()) {
		dir, remove := inMemory()
		path := filepath.Join(dir, "l")
		lock := must(processlock.Acquire(context.Background(), platform.OS(), path).Get())
		file := flock.New(path + ".flock")
		must(file.TryLock())
		if !held {
			check(lock.Release())
			check(file.Unlock())
		}
		return func(n int, _ Timer) {
				for range n {
					once(path)
				}
			}, func() {
				_, _ = lock.Release(), file.Unlock()
				remove()
			}
	}}
}

func isHeld(held bool) Row {
	state := map[bool]string{false: "free", true: "held"}[held]
	other := withoutHolderFile()
	return Row{
		Name: "lock-is-held-" + state, Work: "process lock: `IsHeld` of a " + state + " lock", Unit: "call",
		Ours: asked("tether", held, func(path string) {
			assert(must(processlock.IsHeld(context.Background(), other, path)) == held, "it is "+state)
		}),
		Against: []Reference{
			asked("one raw shared-lock attempt", held, func(path string) {
				c := must(sqlite3.Open(path, sqlite3.OpenReadWrite))
				err := c.Exec("SELECT 1 FROM sqlite_master LIMIT 1")
				assert((err != nil) == held, "it is "+state)
				check(c.Close())
			}).goal(1.2),
			asked("gofrs/flock `TryLock` (+ `Unlock`)", held, func(path string) {
				l := flock.New(path + ".flock")
				assert(must(l.TryLock()) != held, "it is "+state)
				check(l.Unlock())
			}).goal(0),
		},
	}
}

func processLocks() Group {
	raw := onLock("raw: open, `BEGIN EXCLUSIVE`, `ROLLBACK`, close", rawLock)
	return Group{"Process lock", []Row{
		{
			Name: "lock", Work: "process lock: `Acquire` + `Release`, the holder file not synced", Unit: "lock",
			Floor: "It also resolves the directory, checks what it is about to open, and writes and removes the holder file.",
			Ours:  onLock("tether", lockAndRelease(platform.OS())),
			Against: []Reference{
				raw.goal(1.2),
				onLock("gofrs/flock", flockAndUnlock).goal(0),
			},
		},
		{
			Name: "lock-no-holder", Work: "the same without a holder file", Unit: "lock",
			Ours:    onLock("tether", lockAndRelease(withoutHolderFile())),
			Against: []Reference{raw.goal(0)},
		},
		{
			Name: "lock-file", Work: "the same without SQLite (`WithoutSQLite`)", Unit: "lock",
			Ours:    onLock("tether", lockAndRelease(platform.OS(), processlock.WithoutSQLite())),
			Against: []Reference{onLock("gofrs/flock", flockAndUnlock).goal(0)},
		},
		isHeld(false),
		isHeld(true),
	}}
}
