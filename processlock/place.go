package processlock

import (
	"path/filepath"
	"strings"

	"github.com/rivus/tether/platform"
)

// place is where a lock is: two paths are one lock when their places are equal.
type place struct {
	platform *platform.Platform
	dir      string // absolute, links resolved
	name     string
}

func (p place) path() string {
	if strings.HasSuffix(p.dir, string(filepath.Separator)) {
		return p.dir + p.name
	}
	return p.dir + string(filepath.Separator) + p.name
}

// resolve finds the place of path. It creates nothing and opens nothing.
func resolve(p *platform.Platform, path string, s settings) (place, error) {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return place{}, failure(path, platform.ReasonInvalid, "the path must not be empty or contain NUL")
	}
	name := filepath.Base(path)
	if last := path[len(path)-1]; last == '/' || last == filepath.Separator || name == "." || name == ".." {
		return place{}, failure(path, platform.ReasonIsDirectory, "the path names a directory; give the path of a file")
	}
	if strings.HasSuffix(name, holderSuffix) {
		// PATH.holder names the holder of the lock at PATH, which writes and removes it.
		return place{}, failure(path, platform.ReasonInvalid, "a name that ends in .holder belongs to the lock beside it; choose another")
	}
	if s.mechanism == LockFile && strings.HasSuffix(name, guardSuffix) {
		// PATH.stale is created, judged and removed by those who reclaim PATH.
		return place{}, failure(path, platform.ReasonInvalid, "a name that ends in .stale belongs to the lock file beside it; choose another")
	}
	dir, err := p.FS.ResolveDir(platform.Dir(path))
	if err != nil {
		return place{}, failed(path, "use its directory", err)
	}
	at := place{platform: p, dir: dir, name: name}
	if !s.network {
		// A mount may be of the file alone, as containers have them.
		for _, where := range []string{dir, at.path()} {
			kind, err := p.FS.FileSystemType(where)
			if where != dir && platform.IsNotFound(err) {
				continue
			}
			if err != nil {
				return place{}, failed(path, "tell the file system", err)
			}
			if kind.Network {
				return place{}, failure(path, platform.ReasonNetworkStorage,
					"it is on a network file system ("+kind.Name+"), whose locks cannot be trusted; choose a local path, or allow it")
			}
		}
	}
	return at, nil
}
