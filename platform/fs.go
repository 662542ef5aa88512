package platform

import "time"

// FS is what the module needs of a file system. Every failure is a *Failure.
// No method follows a symbolic link in the last part of a file's path, and none
// opens anything but regular files and directories, so that a FIFO never blocks and
// a device is never touched. The methods may be called from any goroutine.
//
// A new file has the mode 0644 less the umask. In a folder that a group may write,
// and whose files are that group's (it is setgid, or the group is the process's own),
// it has the mode 0660, and all may read it who may read the folder, whatever the
// umask is. What root creates belongs to the folder's owner and group. Nothing is
// created world-writable. On Windows the folder's access list decides.
type FS interface {
	// ReadFile is the content of the regular file at path, which must not exceed
	// limit bytes (ReasonTooLarge; at most limit+1 bytes are read). Nothing
	// there: ReasonNotFound.
	ReadFile(path string, limit int64) ([]byte, error)

	// WriteAtomic replaces the file at path by data, so that after a crash or a
	// power cut the one or the other is there, whole. It writes a temporary
	// sibling, syncs it, renames it over path and syncs the directory. It keeps
	// an existing file's mode, and its group and as root its owner, as far as this
	// process may; a group that it could not keep loses what others may not. When it fails before the
	// rename, the temporary file is gone and path untouched; a failure of the
	// directory's sync means that path has the new content, not yet durably.
	WriteAtomic(path string, data []byte) error

	// WriteWhole is WriteAtomic without the syncs: readers see the old content
	// or the new, but a power cut may leave an empty file.
	WriteWhole(path string, data []byte) error

	// CreateExclusive creates the file with data and answers true, or false when
	// anything is at path already, a dangling link included. The content is not
	// synced, and is there a moment after the file is.
	CreateExclusive(path string, data []byte) (bool, error)

	// Link gives existing the second name path, in one step, and answers true, or
	// false when anything is at path already. A file system without hard links:
	// ReasonUnsupported.
	Link(existing, path string) (bool, error)

	// Rename moves from over to, in one step.
	Rename(from, to string) error

	// Remove removes the file or link at path. Nothing there: success.
	Remove(path string) error

	// Stat describes what is at path; found is false when nothing is.
	Stat(path string) (info FileInfo, found bool, err error)

	// List is the names of what is in the directory, sorted. What appears or goes
	// meanwhile may be among them or not.
	List(dir string) ([]string, error)

	// SyncDir makes the directory's entries durable.
	SyncDir(dir string) error

	// ResolveDir is the absolute path of dir with every symbolic link resolved:
	// the directory's identity, as long as nobody renames on the way there.
	// Missing: ReasonNotFound; a file: ReasonNotDirectory.
	ResolveDir(dir string) (string, error)

	// FileSystemType tells what kind of file system the file or directory at path is
	// on. It opens nothing. Missing: ReasonNotFound.
	FileSystemType(path string) (FileSystemType, error)
}

// FileInfo describes what is at a path; a link is not followed.
type FileInfo struct {
	Kind    FileKind
	Size    int64 // bytes
	ModTime time.Time
	// Device and Inode tell one file from another; both are 0 where the system
	// does not say (Windows).
	Device, Inode uint64
}

// FileKind is the kind of thing at a path.
type FileKind uint8

// The kinds.
const (
	KindRegular FileKind = iota
	KindDirectory
	KindSymlink
	KindOther // FIFO, socket, device
)

// Reason is why a thing of this kind cannot stand where a file must be, or "".
func (k FileKind) Reason() Reason {
	switch k {
	case KindRegular:
		return ""
	case KindDirectory:
		return ReasonIsDirectory
	case KindSymlink:
		return ReasonSymlink
	default:
		return ReasonNotRegular
	}
}

// FileSystemType names a file system. Network is true when its storage is on
// another machine (or may be, as a FUSE file system's that tells no more), where
// neither SQLite's locks nor link and rename can be trusted (R8).
type FileSystemType struct {
	Name    string // such as "ext4", "nfs", "cifs", "9p", "fuse.sshfs"; hexadecimal when unknown
	Network bool
}
