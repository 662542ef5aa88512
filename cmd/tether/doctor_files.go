package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
)

// files examines the database's file, its folder and what SQLite has beside it, and
// reports whether it makes sense to look into it.
func (d *doctor) files() bool {
	path := d.db.path
	folder := filepath.Dir(path)
	if missing(folder) {
		d.say("folder", trouble, "%s", explanation(path, toWrite, &platform.Failure{Path: path, Reason: platform.ReasonNotFound}))
		return false
	}
	if err := writable(folder); err != nil {
		d.say("folder", trouble, "this user may not write to %s (%v), where the fence and SQLite's files are made: %s", plain(folder), err, ownerOf(folder))
	} else {
		d.say("folder", fine, "%s, %s", plain(folder), ownerOf(folder))
	}
	if resolved, err := d.db.platform.FS.ResolveDir(folder); err == nil {
		switch kind, err := d.db.platform.FS.FileSystemType(resolved); {
		case err != nil:
			d.say("file system", noted, "of what kind it is cannot be told: %v", err)
		case kind.Network:
			d.say("file system", trouble, "%s, whose storage may be on another machine: neither SQLite's locks nor links can be trusted there; use a local one", kind.Name)
		default:
			d.say("file system", fine, "%s", kind.Name)
		}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.say("file", noted, "%s does not exist; tether run makes it", plain(path))
		return false
	case err != nil:
		d.say("file", trouble, "%v", err)
		return false
	case !info.Mode().IsRegular():
		reason := platform.ReasonNotRegular
		switch {
		case info.IsDir():
			reason = platform.ReasonIsDirectory
		case info.Mode()&fs.ModeSymlink != 0:
			reason = platform.ReasonSymlink
		}
		d.say("file", trouble, "%s", explanation(path, toWrite, &platform.Failure{Path: path, Reason: reason}))
		return false
	}
	d.file("file", path)
	for _, beside := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Lstat(path + beside); err == nil {
			d.file(strings.TrimPrefix(beside, "-"), path+beside)
		}
	}
	d.busy()
	return true
}

// file says who owns a file and whether this user may write it.
func (d *doctor) file(about, path string) {
	if err := writable(path); err != nil {
		d.say(about, trouble, "this user may not write %s (%v): %s; run as its owner, or change the modes", plain(path), err, ownerOf(path))
		return
	}
	d.say(about, fine, "%s, %s", plain(path), ownerOf(path))
}

// busy says whether SQLite lets this process look into the file now.
func (d *doctor) busy() {
	err := d.db.reading(func(platform.SQLiteConn) error { return nil })
	if platform.IsBusy(err) {
		d.say("database", trouble, "another program has it locked now; try again, and if it stays so look for who has it open")
	}
}

// nameOf is a key as a part of a file's name, as docs/formats.md has it.
func nameOf(key string) string {
	const longest, kept = 160, 64
	var name strings.Builder
	for _, b := range []byte(key) {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '-', b == '_':
			name.WriteByte(b)
		default:
			name.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{b})))
		}
	}
	if name.Len() <= longest {
		return name.String()
	}
	sum := sha256.Sum256([]byte(key))
	return name.String()[:kept] + "~" + hex.EncodeToString(sum[:])
}
