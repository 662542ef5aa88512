package effect_test

import (
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// F62: in a masked fiber that has been interrupted InterruptibleMask calls its
// function, as effect@4.1.0 does, and drops what that builds; a panic in it is a
// defect, which the handlers in the mask see.
func TestF62_InterruptibleMaskOfAnInterruptedFiber(t *testing.T) {
	for name, c := range map[string]struct {
		panics bool
		want   string
	}{
		"builds": {want: "called, [Interrupt(#7)]"},
		"panics": {panics: true, want: "called, [Die(boom)]"},
	} {
		t.Run(name, func(t *testing.T) {
			var log string
			program := effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
				f.Interrupt(7)
				return effect.InterruptibleMask(func(effect.Restore) effect.Effect[effect.Unit] {
					log += "called, "
					if c.panics {
						panic("boom")
					}
					return effect.SyncUnit(func() { log += "ran, " })
				}).CatchCause(func(c *scope.Cause) effect.Effect[effect.Unit] {
					log += "[" + c.Reasons()[0].String() + "]"
					return effect.Void()
				})
			}).Uninterruptible()
			onBoth(t, program, func(t *testing.T, exit scope.Exit[effect.Unit]) {
				if log != c.want || !exit.Cause().HasInterruptsOnly() {
					t.Errorf("%s; %v", log, exit)
				}
				log = ""
			})
		})
	}
}
