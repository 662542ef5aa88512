package platform

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// A file that appears whole is written under a temporary name beside it first. A
// process that is killed in between leaves that: whoever sweeps a directory must
// know the name, and take nothing else for one.
const (
	temporaryPrefix = ".tether-"
	temporarySuffix = ".tmp"
)

// TemporaryBeside is a fresh path in path's directory for a file that will be
// renamed or linked to path: ".tether-HEX.tmp", with 64 random bits. It does not
// contain path's own name, which may be as long as the file system allows already.
func TemporaryBeside(path string) string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	dir := Dir(path)
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator)
	}
	return dir + temporaryPrefix + hex.EncodeToString(random[:]) + temporarySuffix
}

// IsTemporary tells whether name, without its directory, is such a temporary
// file's. Names with 128 random bits count, which earlier versions gave; what only
// begins so is a user's.
func IsTemporary(name string) bool {
	name, prefixed := strings.CutPrefix(name, temporaryPrefix)
	random, suffixed := strings.CutSuffix(name, temporarySuffix)
	return prefixed && suffixed && (len(random) == 16 || len(random) == 32) &&
		strings.Trim(random, "0123456789abcdef") == ""
}
