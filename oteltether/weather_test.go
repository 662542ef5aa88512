package oteltether_test

import (
	"sync/atomic"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

// weather is a repository that can be made to refuse writes.
type weather struct {
	lease.Repository
	bad atomic.Bool
}

func (w *weather) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	if w.bad.Load() {
		return effect.Fail[effect.Unit](&lease.RepositoryFailure{Key: key, Reason: lease.RepositoryIO, Message: "bad weather"})
	}
	return w.Repository.Save(key, next, expected)
}
