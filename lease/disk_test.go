package lease_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rivus/tether/platform"
)

// disk is a file system in memory whose power can be cut. It keeps what programs see
// apart from what is synced: a file's content is safe after its sync, a name in a
// directory after that of the directory. Everything else may be there after the cut,
// or not, or in part.
type disk struct {
	now func() time.Time

	mu    sync.Mutex
	names map[string]*inode // what programs see
	safe  map[string]*inode // what is synced
	steps int
	cutAt int // the step that does not happen any more; 0: none
	off   bool
	next  int
}

type inode struct {
	data, safe []byte
	modified   time.Time
}

const diskDir = "/disk"

var errPower = &platform.Failure{Op: "use the disk", Reason: platform.ReasonIO, Cause: errors.New("the power is off")}

func newDisk() *disk {
	return &disk{now: func() time.Time { return time.UnixMilli(0) }, names: map[string]*inode{}, safe: map[string]*inode{}}
}

// step is one change of the disk; it is false when the power is off. mu is held.
func (d *disk) step(change func()) bool {
	if d.off {
		return false
	}
	d.steps++
	if d.steps == d.cutAt {
		d.off = true
		return false
	}
	change()
	return true
}

func (d *disk) isOff() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.off
}

// image is what a restart finds. draw chooses what was written of all that was not
// synced: 0 is nothing of it.
func (d *disk) image(draw func(n int) int) *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	after := newDisk()
	contents := map[*inode]*inode{}
	survivor := func(n *inode) *inode {
		if n == nil {
			return nil
		}
		if contents[n] == nil {
			data := n.safe
			switch draw(3) {
			case 1:
				data = n.data
			case 2:
				data = n.data[:draw(len(n.data)+1)]
			}
			if slices.Equal(n.safe, n.data) {
				data = n.data
			}
			contents[n] = &inode{data: slices.Clone(data), safe: slices.Clone(data), modified: n.modified}
		}
		return contents[n]
	}
	all := maps.Clone(d.safe)
	maps.Copy(all, d.names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := d.safe[name]
		if d.names[name] != n && draw(2) == 1 {
			n = d.names[name]
		}
		if n = survivor(n); n != nil {
			after.names[name], after.safe[name] = n, n
		}
	}
	return after
}

// temporaries is the temporary files that programs see.
func (d *disk) temporaries() (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path := range d.names {
		if name := filepath.Base(path); platform.IsTemporary(name) {
			names = append(names, name)
		}
	}
	return names
}

func (d *disk) ReadFile(path string, limit int64) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[path]
	switch {
	case d.off:
		return nil, errPower
	case n == nil:
		return nil, &platform.Failure{Op: "read file", Path: path, Reason: platform.ReasonNotFound}
	case int64(len(n.data)) > limit:
		return nil, &platform.Failure{Op: "read file", Path: path, Reason: platform.ReasonTooLarge}
	}
	return slices.Clone(n.data), nil
}

// replace is how platform's own FS replaces a file.
func (d *disk) replace(path string, data []byte, synced bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	temporary := filepath.Join(diskDir, fmt.Sprintf(".tether-%016x.tmp", d.next))
	n := &inode{modified: d.now()}
	steps := []func(){
		func() { d.names[temporary] = n },
		func() { n.data = slices.Clone(data) },
		func() { n.safe = n.data },
		func() { delete(d.names, temporary); d.names[path] = n },
		func() { d.safe = maps.Clone(d.names) },
	}
	if !synced {
		steps = slices.Delete(slices.Delete(steps, 4, 5), 2, 3)
	}
	for _, s := range steps {
		if !d.step(s) {
			return errPower
		}
	}
	return nil
}

func (d *disk) WriteAtomic(path string, data []byte) error { return d.replace(path, data, true) }
func (d *disk) WriteWhole(path string, data []byte) error  { return d.replace(path, data, false) }

func (d *disk) CreateExclusive(path string, data []byte) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[path] != nil {
		return false, nil
	}
	n := &inode{modified: d.now()}
	if !d.step(func() { d.names[path] = n }) || !d.step(func() { n.data = slices.Clone(data) }) {
		return false, errPower
	}
	return true, nil
}

func (d *disk) Link(existing, path string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[existing]
	switch {
	case n == nil:
		return false, &platform.Failure{Op: "link", Path: existing, Reason: platform.ReasonNotFound}
	case d.names[path] != nil:
		return false, nil
	case !d.step(func() { d.names[path] = n }):
		return false, errPower
	}
	return true, nil
}

func (d *disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[from]
	switch {
	case n == nil:
		return &platform.Failure{Op: "rename", Path: from, Reason: platform.ReasonNotFound}
	case !d.step(func() { delete(d.names, from); d.names[to] = n }):
		return errPower
	}
	return nil
}

func (d *disk) Remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.names[path] != nil && !d.step(func() { delete(d.names, path) }) {
		return errPower
	}
	return nil
}

func (d *disk) Stat(path string) (info platform.FileInfo, found bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.names[path]
	switch {
	case d.off:
		return info, false, errPower
	case n == nil:
		return info, false, nil
	}
	return platform.FileInfo{Size: int64(len(n.data)), ModTime: n.modified}, true, nil
}

func (d *disk) List(dir string) (names []string, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return nil, errPower
	}
	for path := range d.names {
		names = append(names, strings.TrimPrefix(path, dir+string(filepath.Separator)))
	}
	slices.Sort(names)
	return names, nil
}

func (d *disk) SyncDir(string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.step(func() { d.safe = maps.Clone(d.names) }) {
		return errPower
	}
	return nil
}

func (d *disk) ResolveDir(dir string) (string, error) { return dir, nil }

func (d *disk) FileSystemType(string) (platform.FileSystemType, error) {
	return platform.FileSystemType{Name: "simulated"}, nil
}

// drawing gives the choices of one image: nothing survives, everything does, or what
// the seed says.
func drawing(kind uint64) func(n int) int {
	switch kind {
	case 0:
		return func(int) int { return 0 }
	case 1:
		return func(n int) int { return min(1, n-1) }
	}
	r := rand.New(rand.NewPCG(kind, 1))
	return r.IntN
}
