package lease

import (
	"context"

	"github.com/rivus/tether/scope"
)

// Hold takes the lease of key, runs work under the key's fence, and releases the
// lease when work has returned. It needs no effects: Hold, Take and Lookup are the
// methods for plain Go.
//
//	err := leases.Hold(ctx, "nightly", func(ctx context.Context, token lease.FencingToken) error {
//		return report.Save(ctx, token)
//	}, lease.Wait())
//
// Without Wait it fails at once with *Held while somebody else holds the lease; with
// it, it waits until ctx ends. work runs on the caller's goroutine. Its context is
// ctx, and ends with *Lost as its cause when the lease is lost. Hold waits for work
// to return all the same: until then it holds the fence, so that no successor's
// fenced work begins. Give the token to what work writes to, for [CheckFence].
//
// The error is work's own, as it is. When the lease was lost, errors.As finds *Lost in
// it, with what work returned beside it; then work has done all, some or none of what
// it does. When work did not run, it is *Held, *FenceRejected, *RepositoryFailure, or
// of the context: errors.Is finds ctx.Err() and the context's cause. A panic and a
// Goexit of work go on to the caller, after the release.
//
// Called with a context of work that holds the same key it is refused with an error,
// since it would wait for itself. So it is with an empty key. A release takes one
// Heartbeat at most, after which the lease is left to its TTL.
func (m *Manager) Hold(
	ctx context.Context, key string, work func(ctx context.Context, token FencingToken) error, options ...AcquireOption,
) error {
	h, err := m.take(ctx, "Hold", key, options)
	if err != nil {
		return err
	}
	// From a defer, for a panic and a Goexit of work, which nothing here recovers: so
	// they keep their stack.
	defer h.close()
	return h.RunFenced(ctx, work)
}

// Lookup returns the key's record and whether there is one, and changes nothing. It is
// Read for plain Go. It fails with *RepositoryFailure, with ctx, or, when the key is
// empty, with an error that says so.
func (m *Manager) Lookup(ctx context.Context, key string) (record Record, found bool, err error) {
	if key == "" {
		return Record{}, false, errEmptyKey
	}
	stored, err := plainly(ctx, scope.NewParallel(), key, m.Read(key))
	record, found = stored.Get()
	return record, found, err
}
