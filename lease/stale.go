package lease

import (
	"path/filepath"
	"time"

	"github.com/rivus/tether/platform"
)

// A process that is killed while it replaces a file leaves the temporary sibling. Its
// name says nothing, but its content names the process that wrote it.

// staleAfter is the age at which a temporary file that names no process is nobody's. A
// process that was stopped for as long finds that its write failed, as any may.
const staleAfter = 24 * time.Hour

// sweep removes what dead processes left in dir. Nothing comes of its failures: they
// cost space. Where the directory cannot be listed it does nothing.
func sweep(p *platform.Platform, dir string) {
	self, err := p.Process.Self()
	if err != nil {
		return
	}
	names, _ := p.FS.List(dir)
	for _, name := range names {
		if !platform.IsTemporary(name) {
			continue
		}
		path := dir + string(filepath.Separator) + name
		data, err := p.FS.ReadFile(path, maxRecordJSON)
		if err != nil {
			continue
		}
		stale := false
		if writer, ok := writerOf(data); ok {
			stale = platform.Judge(self, writer, p.Process.Identify) == platform.Dead
		} else if info, found, err := p.FS.Stat(path); err == nil && found {
			stale = p.Clock.Now().Sub(info.ModTime) > staleAfter
		}
		if stale {
			_ = p.FS.Remove(path)
		}
	}
}

// writerOf is the process that wrote a temporary file: the holder of a record that is
// held, which nobody else writes, or that of a process lock's stamp. Tombstones, and
// what was cut short, name none.
func writerOf(data []byte) (id platform.Identity, ok bool) {
	if r, _, err := parseRecordFile(data); err == nil {
		h, held := r.Holder.Get()
		return h.Identity, held
	}
	return id, id.UnmarshalJSON(data) == nil
}
