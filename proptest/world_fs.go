package proptest

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/rivus/tether/platform"
)

// simulatedFS is the FS port of one process.
type simulatedFS struct{ p *Process }

// do is an operation on the disk, with the world locked.
func (s simulatedFS) do(name, at string, op func(d *disk, at string) platform.Reason) error {
	if err := s.p.enter(name, at); err != nil {
		return err
	}
	return s.apply(name, at, op)
}

func (s simulatedFS) apply(name, at string, op func(d *disk, at string) platform.Reason) error {
	s.p.w.mu.Lock()
	defer s.p.w.mu.Unlock()
	if reason := op(s.p.w.disk, path.Clean(at)); reason != "" {
		return &platform.Failure{Op: name, Path: at, Reason: reason}
	}
	return nil
}

// wall is the time that files carry: the machine's, whatever the processes' own
// clocks say.
func (s simulatedFS) wall() time.Time { return epoch.Add(s.p.w.now) }

// ReadFile implements platform.FS.
func (s simulatedFS) ReadFile(at string, limit int64) (data []byte, err error) {
	err = s.do("ReadFile", at, func(d *disk, at string) platform.Reason {
		f := d.entries[at]
		switch {
		case d.dirs[at]:
			return platform.ReasonIsDirectory
		case f == nil:
			return platform.ReasonNotFound
		case int64(len(f.data)) > limit:
			return platform.ReasonTooLarge
		}
		data = slices.Clone(f.data)
		return ""
	})
	return data, err
}

// write replaces a file. Killed between its steps the process leaves a temporary
// file, or a rename that is not durable.
func (s simulatedFS) write(name, at string, data []byte, synced bool) error {
	var fresh *inode
	var temporary string
	err := s.do(name, at, func(d *disk, at string) platform.Reason {
		if reason := d.check(at); reason != "" {
			return reason
		}
		if fresh = d.create(data, s.wall()); fresh == nil {
			return platform.ReasonNoSpace
		}
		// As platform.TemporaryBeside names it, but the same in each run.
		temporary = path.Join(path.Dir(at), fmt.Sprintf(".tether-%016x.tmp", fresh.number))
		d.entries[temporary] = fresh
		if synced {
			fresh.synced = slices.Clone(data)
		}
		return ""
	})
	if err != nil {
		return err
	}
	err = s.do(name, at, func(d *disk, at string) platform.Reason {
		if d.entries[temporary] != fresh {
			return platform.ReasonNotFound // somebody swept it away
		}
		delete(d.entries, temporary)
		d.entries[at] = fresh
		return ""
	})
	if err != nil {
		_ = s.apply(name, at, func(d *disk, _ string) platform.Reason {
			if !s.p.isGhost() {
				delete(d.entries, temporary)
			}
			return ""
		})
	}
	return err
}

// WriteAtomic implements platform.FS.
func (s simulatedFS) WriteAtomic(at string, data []byte) error {
	if err := s.write("WriteAtomic", at, data, true); err != nil {
		return err
	}
	return s.SyncDir(path.Dir(at))
}

// WriteWhole implements platform.FS.
func (s simulatedFS) WriteWhole(at string, data []byte) error {
	return s.write("WriteWhole", at, data, false)
}

// CreateExclusive implements platform.FS.
func (s simulatedFS) CreateExclusive(at string, data []byte) (created bool, err error) {
	err = s.do("CreateExclusive", at, func(d *disk, at string) platform.Reason {
		if d.entries[at] != nil || d.dirs[at] {
			return ""
		}
		if reason := d.check(at); reason != "" {
			return reason
		}
		f := d.create(data, s.wall())
		if f == nil {
			return platform.ReasonNoSpace
		}
		d.entries[at], created = f, true
		return ""
	})
	return created, err
}

// Link implements platform.FS.
func (s simulatedFS) Link(existing, at string) (linked bool, err error) {
	err = s.do("Link", at, func(d *disk, at string) platform.Reason {
		f := d.entries[path.Clean(existing)]
		switch {
		case f == nil:
			return platform.ReasonNotFound
		case d.entries[at] != nil || d.dirs[at]:
			return ""
		case !d.dirs[path.Dir(at)]:
			return platform.ReasonNotFound
		}
		d.entries[at], linked = f, true
		return ""
	})
	return linked, err
}

// Rename implements platform.FS.
func (s simulatedFS) Rename(from, to string) error {
	return s.do("Rename", from, func(d *disk, from string) platform.Reason {
		to := path.Clean(to)
		f := d.entries[from]
		if f == nil {
			return platform.ReasonNotFound
		}
		if reason := d.check(to); reason != "" {
			return reason
		}
		delete(d.entries, from)
		d.entries[to] = f
		return ""
	})
}

// Remove implements platform.FS.
func (s simulatedFS) Remove(at string) error {
	return s.do("Remove", at, func(d *disk, at string) platform.Reason {
		if d.dirs[at] {
			return platform.ReasonIsDirectory
		}
		delete(d.entries, at)
		return ""
	})
}

// Stat implements platform.FS.
func (s simulatedFS) Stat(at string) (info platform.FileInfo, found bool, err error) {
	err = s.do("Stat", at, func(d *disk, at string) platform.Reason {
		f := d.entries[at]
		switch {
		case d.dirs[at]:
			info, found = platform.FileInfo{Kind: platform.KindDirectory, Device: 1}, true
		case f != nil:
			info, found = platform.FileInfo{Size: int64(len(f.data)), ModTime: f.modTime, Device: 1, Inode: f.number}, true
		}
		return ""
	})
	return info, found, err
}

// List implements platform.FS.
func (s simulatedFS) List(dir string) (names []string, err error) {
	err = s.do("List", dir, func(d *disk, dir string) platform.Reason {
		if !d.dirs[dir] {
			return platform.ReasonNotFound
		}
		for at := range d.entries {
			if path.Dir(at) == dir {
				names = append(names, path.Base(at))
			}
		}
		for at := range d.dirs {
			if path.Dir(at) == dir && at != dir {
				names = append(names, path.Base(at))
			}
		}
		slices.Sort(names)
		return ""
	})
	return names, err
}

// SyncDir implements platform.FS.
func (s simulatedFS) SyncDir(dir string) error {
	return s.do("SyncDir", dir, func(d *disk, dir string) platform.Reason {
		if !d.dirs[dir] {
			return platform.ReasonNotFound
		}
		d.syncDir(dir)
		return ""
	})
}

// ResolveDir implements platform.FS.
func (s simulatedFS) ResolveDir(dir string) (resolved string, err error) {
	err = s.do("ResolveDir", dir, func(d *disk, dir string) platform.Reason {
		if !path.IsAbs(dir) {
			dir = path.Join("/", dir)
		}
		switch {
		case d.entries[dir] != nil:
			return platform.ReasonNotDirectory
		case !d.dirs[dir]:
			return platform.ReasonNotFound
		}
		resolved = dir
		return ""
	})
	return resolved, err
}

// FileSystemType implements platform.FS.
func (s simulatedFS) FileSystemType(dir string) (platform.FileSystemType, error) {
	return platform.FileSystemType{Name: "simulated"}, s.p.enter("FileSystemType", dir)
}
