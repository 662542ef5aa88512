package platform

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/rivus/tether/errors"
)

func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if kind := kindOf(info.Mode()); kind != KindRegular {
		return nil, &Failure{Op: "open file", Path: path, Reason: kind.Reason()}
	}
	return os.Open(path)
}

func lstatKind(path string) (FileKind, int64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, 0, err
	}
	return kindOf(info.Mode()), info.Size(), nil
}

func removeFile(path string) error { return os.Remove(path) }

func writeRefusal(string) error { return nil }

func deviceOf(string) uint64 { return 0 }

func openDir(dir string) (*os.File, error) { return os.Open(dir) }

// syncDir does nothing: NTFS journals its directories, and a handle of one
// cannot be flushed.
func syncDir(string) error { return nil }

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
		return "", windows.ERROR_DIRECTORY
	}
	return resolved, nil
}

func fileID(fs.FileInfo) (device, inode uint64) { return 0, 0 }

func noLinks(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_FUNCTION) || errors.Is(err, windows.ERROR_NOT_SUPPORTED)
}

// fileSystemType knows a network drive by its kind and a share by its name.
func fileSystemType(dir string) (FileSystemType, error) {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(volume, `\\?\`) && !strings.HasPrefix(volume, `\\.\`) {
		return FileSystemType{Name: "smb", Network: true}, nil
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return FileSystemType{}, err
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return FileSystemType{Name: "smb", Network: true}, nil
	}
	var name [windows.MAX_PATH + 1]uint16
	if err := windows.GetVolumeInformation(root, nil, 0, nil, nil, nil, &name[0], uint32(len(name))); err != nil {
		return FileSystemType{}, err
	}
	return FileSystemType{Name: strings.ToLower(windows.UTF16ToString(name[:]))}, nil
}
