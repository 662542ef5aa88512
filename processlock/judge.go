package processlock

import (
	"time"

	"github.com/samber/mo"

	"github.com/rivus/tether/platform"
)

// stampTime is how long a file without a stamp counts as held, after its mtime or as
// the observer has seen it: who creates first and stamps second is between the two.
const stampTime = 30 * time.Second

// fileState is what a lock file says, for judge.
type fileState struct {
	kind    kind   // begun, named or stamped
	holder  Holder // of a named or stamped one
	modTime time.Time
	seen    time.Duration // for how long it has been seen unchanged
}

// recorded is the holder, if the file names one.
func (s fileState) recorded() mo.Option[Holder] {
	return mo.TupleToOption(s.holder, s.kind == named || s.kind == stamped)
}

// judge tells whether a lock file's holder still runs. It is pure but for lookup.
// Without an own identity nothing can be compared, and a stamp is Unknown.
func judge(
	file fileState, now time.Time, self mo.Option[platform.Identity],
	lookup func(pid int64) (platform.Identity, bool, error),
) platform.Liveness {
	switch file.kind {
	case begun:
		if now.Sub(file.modTime) < stampTime && file.seen < stampTime {
			return platform.Unknown
		}
		return platform.Dead
	case named:
		return platform.Unknown
	}
	own, ok := self.Get()
	if !ok {
		return platform.Unknown
	}
	return platform.Judge(own, file.holder.Identity, lookup)
}
