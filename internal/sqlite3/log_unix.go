//go:build unix

package sqlite3

import (
	"unsafe"

	"golang.org/x/sys/unix"
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// LogMoved tells whether the path of the write-ahead log of "main", or that of the
// log's index, no longer leads to the file that this connection has open: somebody
// removed or replaced it. Who goes on then writes what nobody else will read. It is
// false where there is no log, or none is open yet.
//
// SQLite can be asked that of the database's file alone. It tells where its own
// structures are, and they have the descriptors; looking at those closes none.
func (c *Conn) LogMoved() (bool, error) {
	main, err := c.file(lib.SQLITE_FCNTL_FILE_POINTER)
	if err != nil || main == 0 {
		return false, err
	}
	// Only who has an index has a log; another journal may be no file at all.
	shm := libc.AtomicLoadPUintptr(main + unsafe.Offsetof(lib.TunixFile{}.FpShm))
	if shm == 0 {
		return false, nil
	}
	node := libc.AtomicLoadPUintptr(shm + unsafe.Offsetof(lib.TunixShm{}.FpShmNode))
	if parted(node+unsafe.Offsetof(lib.TunixShmNode{}.FhShm), node+unsafe.Offsetof(lib.TunixShmNode{}.FzFilename)) {
		return true, nil
	}
	log, err := c.file(lib.SQLITE_FCNTL_JOURNAL_POINTER)
	if err != nil || log == 0 {
		return false, err
	}
	return parted(log+unsafe.Offsetof(lib.TunixFile{}.Fh), log+unsafe.Offsetof(lib.TunixFile{}.FzPath)), nil
}

// file is SQLite's structure for a file of "main" that is open, or 0.
func (c *Conn) file(control int32) (uintptr, error) {
	if rc := lib.Xsqlite3_file_control(c.tls, c.db, 0, control, c.scratch); rc != lib.SQLITE_OK {
		return 0, c.failure(rc)
	}
	file := libc.AtomicLoadPUintptr(c.scratch)
	if file == 0 || libc.AtomicLoadPUintptr(file+unsafe.Offsetof(lib.TunixFile{}.FpMethod)) == 0 {
		return 0, nil
	}
	return file, nil
}

// parted tells whether the path at one address leads to another file than the
// descriptor at the other, or to none.
func parted(descriptor, path uintptr) bool {
	fd, name := libc.AtomicLoadPInt32(descriptor), libc.AtomicLoadPUintptr(path)
	if fd < 0 || name == 0 {
		return false
	}
	var open, named unix.Stat_t
	for _, err := range []error{unix.Fstat(int(fd), &open), unix.Stat(libc.GoString(name), &named)} {
		if err != nil {
			return true
		}
	}
	return open.Dev != named.Dev || open.Ino != named.Ino
}
