//go:build unix

package platform

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/errors"
)

// openRegular opens without following a link and without waiting for the other
// end of a FIFO; the caller looks whether it got a regular file.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// removeFile is os.Remove without its second try as a directory.
func removeFile(path string) error {
	for {
		err := syscall.Unlink(path)
		if err != syscall.EINTR {
			return err
		}
	}
}

// lstatKind is os.Lstat as far as kind and size go, without its allocations.
func lstatKind(path string) (FileKind, int64, error) {
	var stat unix.Stat_t
	for {
		err := unix.Lstat(path, &stat)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		break
	}
	kind := KindOther
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		kind = KindRegular
	case unix.S_IFDIR:
		kind = KindDirectory
	case unix.S_IFLNK:
		kind = KindSymlink
	}
	return kind, stat.Size, nil
}

// writeRefusal tells, without opening the file (rule K11), why it may not be
// written, or created where it is missing; nil when nothing speaks against it. It
// asks for the user whom an open would be judged by.
func writeRefusal(path string) error {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
	if err == unix.ENOENT {
		err = unix.Faccessat(unix.AT_FDCWD, Dir(path), unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	}
	return err
}

// deviceOf is the device that the file at path is on, or 0. SQLite tells two files
// of one path by their inodes alone, and those of two file systems may be equal.
func deviceOf(path string) uint64 {
	var stat unix.Stat_t
	for {
		switch unix.Lstat(path, &stat) {
		case nil:
			return uint64(stat.Dev)
		case unix.EINTR:
		default:
			return 0
		}
	}
}

// openDir never waits for the other end of a FIFO.
func openDir(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
}

func syncDir(dir string) error {
	file, err := openDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func resolveDir(dir string) (string, error) {
	absolute, err := Absolute(dir)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", syscall.ENOTDIR
	}
	return resolved, nil
}

func fileID(info fs.FileInfo) (device, inode uint64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev), stat.Ino
	}
	return 0, 0
}

// noLinks tells a file system without hard links from other refusals. EPERM is
// what FAT and some FUSE file systems answer.
func noLinks(err error) bool {
	for _, errno := range []error{syscall.EPERM, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
