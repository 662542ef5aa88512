package lease

import (
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/rivus/tether/platform"
)

// A process that is killed while it replaces a file leaves the temporary sibling. Its
// name says nothing, but its content names the process that wrote it.

// staleAfter is the age at which a temporary file that names no process is nobody's. A
// process that was stopped for as long finds that its write failed, as any may.
const staleAfter = 24 * time.Hour

// temporary is the name of a sibling, with the random number that platform and
// processlock give it. What else begins so is a user's.
var temporary = regexp.MustCompile(`^\.tether-([0-9a-f]{16}|[0-9a-f]{32})\.tmp$`)

// sweep removes what dead processes left in dir. Nothing comes of its failures: they
// cost space. Where the directory cannot be listed it does nothing.
func sweep(p *platform.Platform, dir string) {
	if p.FS != platform.OS().FS {
		return
	}
	self, err := p.Process.Self()
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !temporary.MatchString(e.Name()) {
			continue
		}
		path := dir + string(filepath.Separator) + e.Name()
		data, err := p.FS.ReadFile(path, maxRecordJSON)
		if err != nil {
			continue
		}
		stale := false
		if writer, ok := writerOf(data); ok {
			stale = platform.Judge(self, writer, p.Process.Identify) == platform.Dead
		} else if info, err := e.Info(); err == nil {
			stale = p.Clock.Now().Sub(info.ModTime()) > staleAfter
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
