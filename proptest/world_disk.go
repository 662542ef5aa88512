package proptest

import (
	"maps"
	"path"
	"slices"
	"time"

	"github.com/rivus/tether/platform"
)

// disk is files and directories, as they are and as they would be after a power
// cut.
//
//	write ──► in the file ──sync──► durable content
//	create, rename, link, remove ──► in the directory ──SyncDir──► durable entry
type disk struct {
	dirs     map[string]bool
	entries  map[string]*inode // by path
	durable  map[string]*inode
	inodes   uint64
	capacity int // bytes; negative: no limit
}

// inode is a file.
type inode struct {
	number  uint64
	data    []byte
	synced  []byte // the content that survives
	modTime time.Time
	lock    fileLock
}

func newDisk() *disk {
	return &disk{dirs: map[string]bool{"/": true}, entries: map[string]*inode{}, durable: map[string]*inode{}, capacity: -1}
}

func (d *disk) makeDir(dir string) {
	for dir = path.Clean(dir); !d.dirs[dir]; dir = path.Dir(dir) {
		d.dirs[dir] = true
	}
}

func (d *disk) paths() []string { return slices.Sorted(maps.Keys(d.entries)) }

// used is the bytes of all files.
func (d *disk) used() (n int) {
	for _, f := range d.entries {
		n += len(f.data)
	}
	return n
}

// create makes a file that no directory has yet, or is none when the disk is full.
func (d *disk) create(data []byte, now time.Time) *inode {
	if d.capacity >= 0 && d.used()+len(data) > d.capacity {
		return nil
	}
	d.inodes++
	return &inode{number: d.inodes, data: slices.Clone(data), modTime: now}
}

// check tells why nothing can be at the path, or "".
func (d *disk) check(name string) platform.Reason {
	switch {
	case !d.dirs[path.Dir(name)]:
		return platform.ReasonNotFound
	case d.dirs[name]:
		return platform.ReasonIsDirectory
	}
	return ""
}

// syncDir makes the entries of a directory durable.
func (d *disk) syncDir(dir string) {
	for name := range d.durable {
		if path.Dir(name) == dir && d.entries[name] == nil {
			delete(d.durable, name)
		}
	}
	for name, f := range d.entries {
		if path.Dir(name) == dir {
			d.durable[name] = f
		}
	}
}

// powerCut keeps what is durable, and of the rest what the chooser's 1s say.
func (d *disk) powerCut(choose func(n int) int) {
	names := map[string]bool{}
	for name := range d.entries {
		names[name] = true
	}
	for name := range d.durable {
		names[name] = true
	}
	after := map[string]*inode{}
	var files []*inode
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := d.durable[name]
		if f != d.entries[name] && choose(2) == 1 {
			f = d.entries[name]
		}
		if f == nil {
			continue
		}
		after[name] = f
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	for _, f := range files {
		if !slices.Equal(f.data, f.synced) && choose(2) == 0 {
			f.data = slices.Clone(f.synced)
		}
		f.synced = slices.Clone(f.data)
		f.lock = fileLock{}
	}
	d.entries, d.durable = after, maps.Clone(after)
}
