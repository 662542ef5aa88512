package lease

import (
	"encoding/binary"
	"os"
	"sync"

	"github.com/rivus/tether/internal/list"
	"golang.org/x/sys/unix"
)

// watched is the process's one inotify instance, of which a user may have 128. It is
// there while somebody watches.
var watched struct {
	mu      sync.Mutex
	current *inotify // nil: nobody watches
}

// inotify is an instance with its watches.
type inotify struct {
	file *os.File
	// fd is the file's; its owner is file.
	fd int
	// watches are by watch descriptor, which is one for one file: no list is empty.
	// watched.mu guards them.
	watches map[int32]*list.List[func()]
}

const canWatchFiles = true

// removal is what is told: a removal is a change of the number of links. After one
// event the kernel drops the watch.
const removal = unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONESHOT | unix.IN_DONT_FOLLOW

// watchFileOnce has heard called once, on another goroutine, when the file at path
// was removed, or maybe without a reason. A missing file is fs.ErrNotExist. A call
// that is under way may begin after stop has returned.
func watchFileOnce(path string, heard func()) (stop func(), err error) {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	if watched.current == nil {
		fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		if err != nil {
			return nil, err
		}
		// The descriptor does not block, so that Go's poller waits for it, and not
		// a thread.
		n := &inotify{file: os.NewFile(uintptr(fd), "inotify"), fd: fd, watches: make(map[int32]*list.List[func()])}
		watched.current = n
		go n.read()
	}
	n := watched.current
	descriptor, err := unix.InotifyAddWatch(n.fd, path, removal)
	if err != nil {
		n.closeIfIdle()
		return nil, err
	}
	wd := int32(descriptor)
	watches := n.watches[wd]
	if watches == nil {
		watches = &list.List[func()]{}
		n.watches[wd] = watches
	}
	node := &list.Node[func()]{Value: heard}
	watches.Push(node)
	return func() {
		watched.mu.Lock()
		defer watched.mu.Unlock()
		if watches.Remove(node) && watches.Len() == 0 {
			delete(n.watches, wd)
			_, _ = unix.InotifyRmWatch(n.fd, uint32(wd))
			n.closeIfIdle()
		}
	}, nil
}

// closeIfIdle ends the instance when nothing is watched. watched.mu is held.
func (n *inotify) closeIfIdle() {
	if len(n.watches) == 0 && watched.current == n {
		watched.current = nil
		_ = n.file.Close() // ends read
	}
}

// read passes events on until the instance ends.
func (n *inotify) read() {
	buffer := make([]byte, 4096)
	for {
		size, err := n.file.Read(buffer)
		if err != nil {
			return
		}
		for _, heard := range n.take(buffer[:size]) {
			heard()
		}
		// Who was told may have had enough.
		watched.mu.Lock()
		n.closeIfIdle()
		watched.mu.Unlock()
	}
}

// take takes out the watches that the events are for.
func (n *inotify) take(events []byte) (calls []func()) {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	for len(events) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(events))
		mask := binary.NativeEndian.Uint32(events[4:])
		events = events[min(len(events), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(events[12:]))):]
		if mask&unix.IN_Q_OVERFLOW != 0 { // events were dropped: they may be anybody's
			for wd := range n.watches {
				calls = append(calls, n.drain(wd)...)
			}
			continue
		}
		// The kernel's word that it dropped the watch is its second; the list is
		// gone by then.
		calls = append(calls, n.drain(wd)...)
	}
	return calls
}

func (n *inotify) drain(wd int32) (calls []func()) {
	watches := n.watches[wd]
	if watches == nil {
		return nil
	}
	delete(n.watches, wd)
	for node := watches.Drain(); node != nil; node = node.Next() {
		calls = append(calls, node.Value)
	}
	return calls
}
