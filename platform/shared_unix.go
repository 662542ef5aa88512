//go:build unix

package platform

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// owned is whose a file or directory is, and who may do what with it.
type owned struct {
	uid, gid uint32
	mode     fs.FileMode // the nine bits of permission
}

func ownedOf(info fs.FileInfo) owned {
	o := owned{mode: info.Mode().Perm()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		o.uid, o.gid = stat.Uid, stat.Gid
	}
	return o
}

// describeOwner says whose the file at path is, and who asks; "" when it cannot tell.
func describeOwner(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	o := ownedOf(info)
	return fmt.Sprintf("it has owner %d, group %d and mode %04o, and this is user %d of group %d", o.uid, o.gid, o.mode, os.Geteuid(), os.Getegid())
}

// worldWritable is the bit that nothing is created with.
const worldWritable fs.FileMode = 0o002

// inFolder is what a file that was created as f should be in a folder. A folder that
// a group may write, and whose files are that group's, is one that its members share:
// they must be able to write the files, whatever the creator's umask is. Otherwise the
// umask stands. What root creates belongs to the folder's owner, who could not use it
// else; who owns the folder could put anything there anyway.
func (f owned) inFolder(folder owned, root bool) owned {
	if root {
		f.uid, f.gid = folder.uid, folder.gid
	}
	if folder.mode&0o020 != 0 && f.gid == folder.gid {
		f.mode = 0o660 | folder.mode&0o004
	}
	return f
}

// like is what a file that was created as f should be when it stands in for, or
// belongs to, model. Only root gives a file away; a member of the group gives it to
// that.
func (f owned) like(model owned, root bool) owned {
	if root {
		f.uid = model.uid
	}
	f.gid, f.mode = model.gid, model.mode&^worldWritable
	return f
}

// withoutGroup is what is left when the file stays another group's than it should be:
// that group may do what everybody may.
func (f owned) withoutGroup() owned {
	f.mode = f.mode&^0o070 | f.mode&0o007<<3
	return f
}

// shape gives a file that was just created, and that nobody else has seen, its owner
// and mode: those of model, or those that its folder asks for where model is nil.
func shape(file *os.File, folder string, model fs.FileInfo) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	is := ownedOf(info)
	want, root := is, os.Geteuid() == 0
	if model != nil {
		want = is.like(ownedOf(model), root)
	} else {
		dir, err := os.Stat(folder)
		if err != nil {
			return err
		}
		want = is.inFolder(ownedOf(dir), root)
	}
	if want.uid != is.uid || want.gid != is.gid {
		uid := -1
		if want.uid != is.uid {
			uid = int(want.uid)
		}
		// Root need not be allowed everything, nor need the group be one's own. The
		// file is right but for that.
		if file.Chown(uid, int(want.gid)) != nil && want.gid != is.gid {
			if model == nil {
				return nil
			}
			want = want.withoutGroup()
		}
	}
	if want.mode == is.mode {
		return nil
	}
	return file.Chmod(want.mode)
}
