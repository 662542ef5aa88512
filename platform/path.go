package platform

import (
	"os"
	"path/filepath"
	"runtime"
)

// Dir is the folder that path names a file of. Unlike filepath.Dir it leaves the
// path as it is: after a symbolic link ".." is not the folder before the link.
func Dir(path string) string {
	i := len(path) - 1
	for i >= 0 && !os.IsPathSeparator(path[i]) {
		i--
	}
	if i < 0 {
		return path[:len(filepath.VolumeName(path))] + "."
	}
	return path[:i+1]
}

// Absolute fixes a relative path, so that a later chdir does not change where it
// leads. Unlike filepath.Abs it does not clean it, for the reason that Dir has;
// on Windows, where ".." is the folder before, it does. It fails when the working
// directory is not known.
func Absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	if runtime.GOOS == "windows" {
		return filepath.Abs(path)
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return wd + "/" + path, nil
}
