package platform

import (
	"os"
	"path/filepath"
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
