package processlock

import (
	"github.com/samber/mo"

	"github.com/rivus/tether/platform"
)

const (
	guardSuffix = ".stale"
	// guardLevels bounds the guards of guards: PATH.stale, PATH.stale.stale and
	// PATH.stale.stale.stale.
	guardLevels = 3
)

// takeLockFile attempts once. met hears of a living reclaimer that was in the way.
func takeLockFile(at place, path string, met *guardHeld) (*Lock, finding, error) {
	stamp, err := newStamp(at.platform)
	if err != nil {
		return nil, 0, failed(path, "identify this process, which a lock file needs", err)
	}
	f := lockFile{platform: at.platform, report: path, stamp: stamp, met: met}
	saw, err := f.take(at.path(), 0)
	if err != nil || saw != tookIt {
		return nil, saw, err
	}
	return &Lock{place: at, mechanism: LockFile, holder: mo.Some(stamp)}, tookIt, nil
}

// lockFile is one attempt at a lock file and the guards of its reclaiming.
type lockFile struct {
	platform *platform.Platform
	report   string // the path for messages
	stamp    Holder
	met      *guardHeld
}

// guardHeld is a guard that another process holds while it reclaims, for reports.
type guardHeld struct {
	path   string // "" for none
	holder mo.Option[Holder]
}

// String is for people.
func (g guardHeld) String() string {
	by := "another program, not known to have died"
	if holder, ok := g.holder.Get(); ok {
		by = holder.String()
	}
	return quote(g.path) + ", under which a dead holder's file is removed, is held by " + by
}

// take creates the file at path, or reclaims a dead holder's and creates it then.
// level is 0 for the lock and counts its guards. What this process left at path is
// removed first.
//
// A file that vanishes or appears between two looks starts it again: a few times
// here, then by the policy's pauses.
func (f lockFile) take(path string, level int) (finding, error) {
	if _, err := owed.pay(f, path); err != nil {
		return 0, failed(f.report, "remove "+quote(path)+", which an earlier holder in this process could not remove", err)
	}
	for range 4 {
		// Look before writing anything: most attempts meet a living holder.
		found, err := f.read(path)
		if err != nil {
			return 0, err
		}
		state, exists := found.Get()
		if !exists {
			created, err := f.create(path)
			if err != nil {
				return 0, err
			}
			if created {
				return f.confirm(path)
			}
			continue
		}
		if f.judge(state) != platform.Dead {
			if level > 0 {
				*f.met = guardHeld{path, state.recorded()}
			}
			return sawHolder, nil
		}
		reclaimed, err := f.reclaim(path, level)
		if err != nil {
			return 0, err
		}
		if !reclaimed {
			return sawContention, nil
		}
	}
	return sawContention, nil
}

// create makes the file appear with its stamp in one step: a sibling is written
// first and linked to the path. Without links the file is there a moment before
// its stamp is.
func (f lockFile) create(path string) (bool, error) {
	data, err := f.stamp.MarshalJSON()
	if err != nil {
		return false, failed(f.report, "write a stamp", err)
	}
	fs := f.platform.FS
	sibling := platform.TemporaryBeside(path)
	if fresh, err := fs.CreateExclusive(sibling, data); err != nil || !fresh {
		if err == nil {
			return false, failure(f.report, platform.ReasonIO, "a random name is in use: "+quote(sibling))
		}
		return false, failed(f.report, "write a stamp beside it", err)
	}
	linked, err := fs.Link(sibling, path)
	removed := fs.Remove(sibling)
	switch {
	case platform.ReasonOf(err) == platform.ReasonUnsupported:
		linked, err = fs.CreateExclusive(path, data)
		if err != nil {
			return false, failed(f.report, "create "+quote(path), err)
		}
	case err != nil:
		return false, failed(f.report, "create "+quote(path), err)
	}
	if removed != nil {
		if linked {
			f.giveUp(path)
		}
		return false, failed(f.report, "remove a temporary file", removed)
	}
	return linked, nil
}

// confirm reads the own nonce back: only who sees it holds the lock. A reclaimer
// that judged an unstamped file of ours dead (the file system has no links, and
// this process was stopped for long between creating and stamping) may have
// removed it and let another in.
func (f lockFile) confirm(path string) (finding, error) {
	data, err := f.platform.FS.ReadFile(path, maxStamp)
	if platform.IsNotFound(err) {
		return sawContention, nil
	}
	if err != nil {
		// The file is there with a stamp of this living process: nobody else removes
		// it, and everybody would meet a holder that holds nothing.
		f.giveUp(path)
		return 0, failed(f.report, "read back "+quote(path), err)
	}
	if back, ok := parseStamp(data); ok && back.Nonce == f.stamp.Nonce {
		return tookIt, nil
	}
	return sawContention, nil
}

// giveUp removes the file that was just created at path.
func (f lockFile) giveUp(path string) {
	if f.platform.FS.Remove(path) != nil {
		owed.owe(f, path)
	}
}

// reclaim removes a dead holder's file, as the only one who does: under the guard
// it judges again, since the file that was judged before may be gone and another,
// of a living holder, be in its place. It answers false when another reclaims.
func (f lockFile) reclaim(path string, level int) (bool, error) {
	guard := path + guardSuffix
	if level >= guardLevels {
		return false, failure(f.report, ReasonDeadGuard,
			"the last guard "+quote(path)+" is left by a dead reclaimer; remove that file by hand, when no program uses the lock")
	}
	g := f
	g.stamp.Nonce = newNonce()
	saw, err := g.take(guard, level+1)
	if err != nil {
		return false, err
	}
	if saw != tookIt {
		return false, nil
	}
	done, err := f.removeDead(path)
	if released := g.remove(guard); released != nil {
		owed.owe(g, guard)
		if err == nil {
			err = failed(f.report, "remove the guard "+quote(guard), released)
		}
	}
	return done, err
}

func (f lockFile) removeDead(path string) (bool, error) {
	found, err := f.read(path)
	if err != nil {
		return false, err
	}
	state, exists := found.Get()
	if !exists || f.judge(state) != platform.Dead {
		return true, nil // somebody else did it; look again
	}
	if err := f.platform.FS.Remove(path); err != nil {
		return false, failed(f.report, "remove a dead holder's "+quote(path), err)
	}
	return true, nil
}

// remove removes the file that has the own nonce, and no other.
func (f lockFile) remove(path string) error {
	data, err := f.platform.FS.ReadFile(path, maxStamp)
	if platform.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if found, ok := parseStamp(data); !ok || found.Nonce != f.stamp.Nonce {
		return nil
	}
	return f.platform.FS.Remove(path)
}

func (f lockFile) judge(state fileState) platform.Liveness {
	return judge(state, f.platform.Clock.Now(), mo.Some(f.stamp.Identity), f.platform.Process.Identify)
}

func (f lockFile) read(path string) (mo.Option[fileState], error) {
	return readLockFile(f.platform, path, f.report)
}

// readLockFile reads what judge needs, or none when nothing is there. The time is
// looked at after the content: it may be newer than that, never older, so that
// a file that is being stamped is not taken for an old one. What no lock wrote is a
// failure, and nobody's to remove.
func readLockFile(p *platform.Platform, path, report string) (mo.Option[fileState], error) {
	none := mo.None[fileState]()
	data, err := p.FS.ReadFile(path, maxStamp)
	if platform.IsNotFound(err) {
		seen.forget(p, path)
		return none, nil
	}
	if err != nil {
		return none, failed(report, "read "+quote(path), err)
	}
	what, holder := contentOf(data)
	switch what {
	case stamped, named:
		seen.forget(p, path)
		return mo.Some(fileState{kind: what, holder: holder}), nil
	case foreign, odd:
		return none, failure(report, platform.ReasonNotLock,
			quote(path)+" is no lock file, nor the beginning of one; it was left as it is, choose another path or move it away")
	}
	info, exists, err := p.FS.Stat(path)
	if err != nil {
		return none, failed(report, "look at "+quote(path), err)
	}
	if !exists {
		return none, nil
	}
	return mo.Some(fileState{kind: begun, modTime: info.ModTime, seen: seen.look(p, path, info)}), nil
}

func releaseLockFile(l *Lock) error {
	f, path := lockFile{platform: l.place.platform, report: l.path, stamp: l.holder.OrEmpty()}, l.place.path()
	was, err := owed.pay(f, path)
	if !was {
		if err = f.remove(path); err != nil {
			owed.owe(f, path)
		}
	}
	if err != nil {
		return failed(l.path, "remove it", err)
	}
	return nil
}

// isHeldLockFile judges the holder and leaves the file as it is. Where nothing
// can be compared, for want of an own identity, a stamped file counts as held.
func isHeldLockFile(at place, path string) (bool, error) {
	p := at.platform
	found, err := readLockFile(p, at.path(), path)
	if err != nil {
		return false, err
	}
	state, exists := found.Get()
	if !exists {
		return false, nil
	}
	self := mo.None[platform.Identity]()
	if own, err := p.Process.Self(); err == nil {
		self = mo.Some(own)
	}
	return judge(state, p.Clock.Now(), self, p.Process.Identify) != platform.Dead, nil
}
