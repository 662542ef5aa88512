package proptest

import (
	"fmt"

	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// move is one thing that a test does to a world.
type move struct {
	kind string
	who  int
	n    int
}

// GoString is for rapid's report.
func (m move) GoString() string {
	switch m.kind {
	case "pass":
		return fmt.Sprintf("%d quanta pass", m.n)
	case "steps":
		return fmt.Sprintf("%d steps of #%d", m.n, m.who)
	case "weather":
		return fmt.Sprintf("weather %d", m.n)
	case "power cut", "fail":
		return m.kind
	default:
		return fmt.Sprintf("%s #%d", m.kind, m.who)
	}
}

// drawMove is a move of one of the kinds; one that is there twice comes twice as
// often. n is from 1 to most.
func drawMove(kinds []string, most int) *rapid.Generator[move] {
	return rapid.Custom(func(t *rapid.T) move {
		return move{
			kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
			who:  rapid.IntRange(0, workers-1).Draw(t, "who"),
			n:    rapid.IntRange(1, most).Draw(t, "n"),
		}
	})
}

// player plays the moves on a crew of its own.
type player interface {
	act(m move)
	// heal makes everything well and waits for every worker to have a turn and end.
	heal()
	cast() *crew
}

// playMoves has rapid draw moves, and schedules for what newPlayer makes to play
// them in.
func playMoves(t TB, kinds []string, most int, newPlayer func(choose scope.Chooser) player) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		moves := many(drawMove(kinds, most)).Draw(t, "moves")
		got := explore(t, func(choose scope.Chooser) *crew {
			p := newPlayer(choose)
			c := p.cast()
			defer c.w.Close()
			c.fill()
			for _, m := range moves {
				if p.act(m); len(c.violations) > 0 {
					return c
				}
			}
			p.heal()
			return c
		})
		if bad := got.result.violations; len(bad) > 0 {
			t.Logf("what happened:\n%s", got.result.w.Trace())
			t.Fatalf("%s", bad[0])
		}
	})
}
