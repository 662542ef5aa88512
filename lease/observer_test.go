package lease_test

import (
	"runtime"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// L9, L10: an observer that panics, or ends the goroutine, when it hears of an event
// leaves no lease without its release.
func TestL9_ObserverEndsTheGoroutine(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("x") }, "Goexit": runtime.Goexit} {
		for event, picked := range map[string]func(lease.Event) bool{
			"acquired": func(e lease.Event) bool { _, ok := e.(lease.Acquired); return ok },
			"released": func(e lease.Event) bool { _, ok := e.(lease.Released); return ok },
			"renewed":  func(e lease.Event) bool { _, ok := e.(lease.Renewed); return ok },
			"lost":     func(e lease.Event) bool { _, ok := e.(lease.WasLost); return ok },
		} {
			t.Run(name+" when "+event, func(t *testing.T) {
				w := newWorld(lease.NewMemoryRepository())
				c := w.config
				c.Observer = func(e lease.Event) {
					if picked(e) {
						end()
					}
				}
				simulate(t, func(do *effect.Do) {
					m := do.Try(lease.NewManager(&platform.Platform{Process: w.process}, w.repo, c))
					life := in(m.Acquire(key).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
						return effect.Sleep(2 * ttl).StopOn(l.Lost())
					}))
					f := do.Await(effect.ForkDetach(life))
					do.Await(f.Await())
					if event == "acquired" && name == "Goexit" {
						expect(t, "ended at", now(do), ttl*0)
					}
					stored := w.stored(do)
					expect(t, "generation", stored.Generation, int64(1))
					expect(t, "released", stored.IsTombstone(), true)
				})
			})
		}
	}
}
