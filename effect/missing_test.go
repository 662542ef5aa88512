package effect_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// What is missing, what gives it, and where it was asked for.
func TestMissingServiceNamesTheRemedy(t *testing.T) {
	manager := effect.Gen(func(do *effect.Do) *lease.Manager {
		return do.Await(lease.MakeManager(lease.Config{TTL: 2, Heartbeat: 1}))
	}).AsUnit()
	for name, c := range map[string]struct {
		program effect.Effect[effect.Unit]
		service string
		want    []string
	}{
		"no scope": {
			effect.GenUnit(func(do *effect.Do) { do.Await(effect.Scope()) }), "Scope", []string{"effect.Scoped"},
		},
		"no platform": {manager.Provide(lease.MemoryRepository()), "platform.Platform", []string{"platform.Live"}},
		"no repository": {
			manager.Provide(platform.Live), "lease.Repository", []string{"lease.SQLiteRepository", "lease.MemoryRepository"},
		},
		"the layers in the wrong order": {
			manager.Provide(platform.Live.ProvideMerge(lease.SQLiteRepository("x.db"))), "platform.Platform",
			[]string{"platform.Live", "ProvideMerge", "comes first"},
		},
		"layers side by side": {
			manager.Provide(platform.Live, lease.SQLiteRepository("x.db")), "platform.Platform", []string{"ProvideMerge", "comes first"},
		},
		"one of the program's own": {
			effect.GenUnit(func(do *effect.Do) { do.Await(effect.NewService[int]("Mine").Get()) }), "Mine",
			[]string{"ProvideService", "layer"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := effect.Run(context.Background(), c.program)
			missing, ok := errors.AsType[*effect.MissingService](err)
			if !ok || missing.Service != c.service {
				t.Fatalf("got %v", err)
			}
			text := err.Error()
			for _, want := range append(c.want, c.service) {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in: %s", want, text)
				}
			}
			if name == "layers side by side" {
				return // they are built by fibers of their own, on whose stacks nothing of the program is
			}
			if !regexp.MustCompile(`missing_test\.go:[0-9]+`).MatchString(missing.At) || !strings.Contains(text, missing.At) {
				t.Errorf("it is asked for at %q, in: %s", missing.At, text)
			}
		})
	}
}
