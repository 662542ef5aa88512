package platform

import (
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/rivus/tether/errors"
)

// osFS implements FS on the operating system.
type osFS struct{}

var _ FS = osFS{}

const newFileMode = 0o644

// ReadFile implements FS.
func (osFS) ReadFile(path string, limit int64) ([]byte, error) {
	const op = "read file"
	file, err := openRegular(path)
	if err != nil {
		return nil, failureOf(op, path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, failureOf(op, path, err)
	}
	if kind := kindOf(info.Mode()); kind != KindRegular {
		return nil, &Failure{Op: op, Path: path, Reason: kind.Reason()}
	}
	if info.Size() > limit {
		return nil, &Failure{Op: op, Path: path, Reason: ReasonTooLarge}
	}
	// The file may grow while it is read, so the size just seen is a hint only.
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, &Failure{Op: op, Path: path, Reason: ReasonTooLarge}
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, failureOf(op, path, err)
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// WriteAtomic implements FS.
func (osFS) WriteAtomic(path string, data []byte) error {
	if err := replace(path, data, true); err != nil {
		return err
	}
	if err := syncDir(Dir(path)); err != nil {
		return failureOf("sync directory of", path, err)
	}
	return nil
}

// WriteWhole implements FS.
func (osFS) WriteWhole(path string, data []byte) error { return replace(path, data, false) }

func replace(path string, data []byte, synced bool) (err error) {
	const op = "write file"
	var old fs.FileInfo // nil: nothing is there
	switch info, err := os.Lstat(path); {
	case err == nil:
		// A rename would replace a link or fail on a directory: say so before
		// anything is written.
		if kind := kindOf(info.Mode()); kind != KindRegular {
			return &Failure{Op: op, Path: path, Reason: kind.Reason()}
		}
		old = info
	case !errors.Is(err, fs.ErrNotExist):
		return failureOf(op, path, err)
	}
	temporary := TemporaryBeside(path)
	file, err := create(temporary, old)
	if err != nil {
		return failureOf(op, path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary)
		}
	}()
	err = fill(file, data, synced)
	if err != nil {
		return failureOf(op, path, err)
	}
	if err = os.Rename(temporary, path); err != nil {
		return failureOf(op, path, err)
	}
	return nil
}

// create creates the file at path, which must not be there, for its folder, or in the
// place of model.
func create(path string, model fs.FileInfo) (*os.File, error) {
	mode := fs.FileMode(newFileMode)
	if model != nil {
		mode &= model.Mode() // no more until it is complete
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	if err := shape(file, Dir(path), model); err != nil {
		_ = file.Close()
		_ = os.Remove(path)
		return nil, err
	}
	return file, nil
}

func fill(file *os.File, data []byte, synced bool) error {
	_, err := file.Write(data)
	if err == nil && synced {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// CreateExclusive implements FS.
func (osFS) CreateExclusive(path string, data []byte) (bool, error) {
	const op = "create file"
	file, err := create(path, nil)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, failureOf(op, path, err)
	}
	if err := fill(file, data, false); err != nil {
		_ = os.Remove(path)
		return false, failureOf(op, path, err)
	}
	return true, nil
}

// Link implements FS.
func (osFS) Link(existing, path string) (bool, error) {
	err := os.Link(existing, path)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case noLinks(err):
		return false, &Failure{Op: "link file", Path: path, Reason: ReasonUnsupported, Cause: bareCause(err)}
	}
	return false, failureOf("link file", path, err)
}

// Rename implements FS.
func (osFS) Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return failureOf("rename file", from, err)
	}
	return nil
}

// Remove implements FS.
func (osFS) Remove(path string) error {
	if err := removeFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failureOf("remove file", path, err)
	}
	return nil
}

// Stat implements FS.
func (osFS) Stat(path string) (info FileInfo, found bool, err error) {
	at, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return FileInfo{}, false, nil
	}
	if err != nil {
		return FileInfo{}, false, failureOf("stat", path, err)
	}
	device, inode := fileID(at)
	return FileInfo{
		Kind: kindOf(at.Mode()), Size: at.Size(), ModTime: at.ModTime(), Device: device, Inode: inode,
	}, true, nil
}

// List implements FS.
func (osFS) List(dir string) ([]string, error) {
	const op = "list directory"
	file, err := openDir(dir)
	if err != nil {
		return nil, failureOf(op, dir, err)
	}
	defer file.Close()
	names, err := file.Readdirnames(-1)
	if err != nil {
		return nil, failureOf(op, dir, err)
	}
	slices.Sort(names)
	return names, nil
}

// SyncDir implements FS.
func (osFS) SyncDir(dir string) error {
	if err := syncDir(dir); err != nil {
		return failureOf("sync directory", dir, err)
	}
	return nil
}

// ResolveDir implements FS.
func (osFS) ResolveDir(dir string) (string, error) {
	resolved, err := resolveDir(dir)
	if err != nil {
		return "", failureOf("resolve directory", dir, err)
	}
	return resolved, nil
}

// FileSystemType implements FS.
func (osFS) FileSystemType(path string) (FileSystemType, error) {
	kind, err := fileSystemType(path)
	if err != nil {
		return FileSystemType{}, failureOf("tell the file system of", path, err)
	}
	return kind, nil
}

func failureOf(op, path string, err error) error { return fileFailure(op, path, err) }

func kindOf(mode fs.FileMode) FileKind {
	switch {
	case mode.IsRegular():
		return KindRegular
	case mode.IsDir():
		return KindDirectory
	case mode&fs.ModeSymlink != 0:
		return KindSymlink
	default:
		return KindOther
	}
}
