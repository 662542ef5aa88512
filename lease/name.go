package lease

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/rivus/tether/platform"
)

// maxName is how long an encoded key may be before it is shortened.
const maxName = 160

// fileName encodes a key as a part of a file's name: as encodeURIComponent does,
// and also ! ' ( ) * . ~, so that no key is a path, a hidden file or a device.
// What is longer than 160 characters becomes its first 64, "~" and the SHA-256
// of the key, so that no name is too long for a file system. Bytes that are no
// UTF-8 are encoded as they are.
func fileName(key string) string {
	const digits = "0123456789ABCDEF"
	b := make([]byte, 0, min(3*len(key), 3*maxName))
	for i := 0; i < len(key) && len(b) <= maxName; i++ {
		c := key[i]
		if plain(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	if len(b) <= maxName {
		return string(b)
	}
	sum := sha256.Sum256([]byte(key))
	return string(b[:64]) + "~" + hex.EncodeToString(sum[:])
}

// absolute fixes a relative path of this machine, so that a later chdir does not
// part the records from their fences.
func absolute(p *platform.Platform, path string) string {
	if p != platform.OS() || path == "" {
		return path
	}
	if fixed, err := platform.Absolute(path); err == nil {
		return fixed
	}
	return path // using it will say why
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
