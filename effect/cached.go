package effect

import (
	"math"
	"sync"
	"time"

	"github.com/rivus/tether/scope"
)

// NoExpiry is the time to live of what does not expire.
const NoExpiry time.Duration = math.MaxInt64

// Cached gives an effect that runs e at most once and then always ends as e did.
// Who runs it while e runs waits for that. e runs in a fiber of its own, with
// the services of the first caller; when every caller has been interrupted, so
// is that fiber, and the next caller starts afresh. A result with an
// interruption is not kept.
func Cached[A any](e Effect[A]) Effect[Effect[A]] { return CachedWithTTL(e, NoExpiry) }

// CachedWithTTL is Cached whose result expires when ttl has passed, by the
// runtime's monotonic clock; then e runs again.
func CachedWithTTL[A any](e Effect[A], ttl time.Duration) Effect[Effect[A]] {
	return CachedWithTTLOf(e, func(scope.Exit[A]) time.Duration { return ttl })
}

// CachedWithTTLOf is CachedWithTTL whose ttl depends on how e ended (TypeScript:
// cachedWithTTL with a function).
func CachedWithTTLOf[A any](e Effect[A], ttl func(scope.Exit[A]) time.Duration) Effect[Effect[A]] {
	return Sync(func() Effect[A] { return (&cache[A]{source: e, ttl: ttl}).get() })
}

// CachedInvalidateWithTTL is CachedWithTTL that also gives an effect which
// forgets the result. Callers that wait at that time keep their run.
func CachedInvalidateWithTTL[A any](e Effect[A], ttl time.Duration) Effect[Pair[Effect[A], Effect[Unit]]] {
	return CachedInvalidateWithTTLOf(e, func(scope.Exit[A]) time.Duration { return ttl })
}

// CachedInvalidateWithTTLOf is CachedInvalidateWithTTL whose ttl depends on how
// e ended.
func CachedInvalidateWithTTLOf[A any](e Effect[A], ttl func(scope.Exit[A]) time.Duration) Effect[Pair[Effect[A], Effect[Unit]]] {
	return Sync(func() Pair[Effect[A], Effect[Unit]] {
		c := &cache[A]{source: e, ttl: ttl}
		return Pair[Effect[A], Effect[Unit]]{c.get(), SyncUnit(c.invalidate)}
	})
}

// cache is a result, a run that will give one, or neither.
type cache[A any] struct {
	source Effect[A]
	ttl    func(scope.Exit[A]) time.Duration

	mu      sync.Mutex
	current *cacheRun[A]
	kept    bool
	exit    scope.Exit[A]
	// expires is a time of the runtime's monotonic clock.
	expires time.Duration
}

// cacheRun is one run of the source. The cache's lock guards it.
type cacheRun[A any] struct {
	fiber Fiber[A]
	// callers wait for it. When the last one leaves early, the run is given up.
	callers int
	done    bool
}

func (c *cache[A]) invalidate[_ onUse]() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	c.current = nil
}

func (c *cache[A]) forget[_ onUse]() {
	c.kept, c.exit = false, scope.Exit[A]{}
}

func (c *cache[A]) get[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		c.mu.Lock()
		r := c.current
		if r != nil {
			if f == &r.fiber.kernel {
				// A run that waits for itself is no caller: when the others have
				// left it is given up, and so ends.
				c.mu.Unlock()
				return then(r.fiber.Join())
			}
			r.callers++
			c.mu.Unlock()
			return result(c.wait(f, r))
		}
		if c.kept && (c.expires == NoExpiry || f.Clock().Monotonic() < c.expires) {
			exit := c.exit
			c.mu.Unlock()
			return then(FromExit(exit))
		}
		c.forget()
		r = &cacheRun[A]{callers: 1}
		f.Prepare(&r.fiber.kernel, r.fiber.body(c.running(r)), scope.ForkConfig{Daemon: true})
		// One that ends in its start has not been joined yet, but will be.
		r.fiber.kernel.Observe(scope.NewBystander(func(*scope.Fiber) {}, func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return r.callers > 0
		}))
		c.current = r
		c.mu.Unlock()
		// In this same step: others may wait for r already, and an interruption of f
		// that came between would leave it unstarted for ever. Whoever the start lets
		// run finds this caller counted.
		f.Start(&r.fiber.kernel, scope.ForkConfig{Immediate: true})
		return result(c.wait(f, r))
	}}
}

// wait waits for r, whose callers count f already.
func (c *cache[A]) wait[_ onUse](f *scope.Fiber, r *cacheRun[A]) (A, *scope.Cause) {
	return onExit(f, r.fiber.Join(), true, func(*scope.Fiber, A, *scope.Cause) *scope.Cause {
		c.mu.Lock()
		r.callers--
		if r.callers > 0 || r.done {
			c.mu.Unlock()
			return nil
		}
		// Out of its place before it is interrupted, so that whoever comes now
		// starts another.
		if c.current == r {
			c.current = nil
		}
		c.mu.Unlock()
		return f.InterruptAwait(&r.fiber.kernel)
	})
}

// running is the source, which leaves its result here.
func (c *cache[A]) running[_ onUse](r *cacheRun[A]) Effect[A] {
	return onExitEffect(c.source, true, func(f *scope.Fiber, v A, cause *scope.Cause) *scope.Cause {
		exit := scope.NewExit(v, cause)
		keep := !cause.HasInterrupts()
		ttl := time.Duration(0)
		published := false
		// Also when ttl panics the run is over.
		defer func() {
			if !published {
				c.publish(f, r, exit, 0, false)
			}
		}()
		if keep && c.wants(r) {
			ttl = c.ttl(exit)
		}
		published = true
		c.publish(f, r, exit, ttl, keep)
		return nil
	})
}

// wants tells whether r has not been given up or invalidated.
func (c *cache[A]) wants[_ onUse](r *cacheRun[A]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current == r
}

func (c *cache[A]) publish[_ onUse](f *scope.Fiber, r *cacheRun[A], exit scope.Exit[A], ttl time.Duration, keep bool) {
	now := f.Clock().Monotonic()
	c.mu.Lock()
	defer c.mu.Unlock()
	r.done = true
	if c.current != r {
		return
	}
	c.current = nil
	if !keep {
		return
	}
	c.kept, c.exit, c.expires = true, exit, NoExpiry
	if ttl < NoExpiry-now {
		c.expires = now + ttl
	}
}
