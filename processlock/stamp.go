package processlock

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/samber/mo"

	"github.com/rivus/tether/platform"
)

// newStamp is a stamp of this process, now.
func newStamp(p *platform.Platform) (Holder, error) {
	self, err := p.Process.Self()
	if err != nil {
		return Holder{}, err
	}
	return Holder{Identity: self, AcquiredAt: p.Clock.Now().UnixMilli(), Nonce: newNonce()}, nil
}

// newNonce is 128 random bits.
func newNonce() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// recordedHolder is who is recorded to hold the lock at the place, for a report:
// whatever is in the way of reading it leaves it absent. It never opens a lock
// database.
func recordedHolder(at place, mechanism Mechanism) mo.Option[Holder] {
	path := at.path()
	if mechanism == SQLite {
		path += holderSuffix
	}
	data, err := at.platform.FS.ReadFile(path, maxStamp)
	if err != nil {
		return mo.None[Holder]()
	}
	what, holder := contentOf(data)
	return mo.TupleToOption(holder, what == stamped || what == named)
}
