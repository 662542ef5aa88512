package processlock

import (
	"time"

	"github.com/samber/mo"

	"github.com/rivus/tether/platform"
)

// stampTime is how long a file without a stamp counts as held after its mtime:
// who creates first and stamps second is between the two.
const stampTime = 30 * time.Second

// fileState is what a lock file says, for judge.
type fileState struct {
	holder  mo.Option[Holder] // none: empty, or no stamp
	modTime time.Time
}

// judge tells whether a lock file's holder still runs. It is pure but for lookup.
// Without an own identity nothing can be compared, and a stamp is Unknown.
func judge(
	file fileState, now time.Time, self mo.Option[platform.Identity],
	lookup func(pid int64) (platform.Identity, bool, error),
) platform.Liveness {
	holder, stamped := file.holder.Get()
	if !stamped {
		if now.Sub(file.modTime) < stampTime {
			return platform.Unknown
		}
		return platform.Dead
	}
	own, ok := self.Get()
	if !ok {
		return platform.Unknown
	}
	return platform.Judge(own, holder.Identity, lookup)
}
