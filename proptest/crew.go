package proptest

import (
	"fmt"
	"time"
)

// workers is how many processes a crew has.
const workers = 3

// crew is the processes of one case, and the rules that they broke.
type crew struct {
	w          *World
	quantum    time.Duration
	slots      [workers]*Process
	start      func(name string) *Process
	look       func() // after each quantum
	violations []string
	// closing: every worker ends after its next turn.
	closing bool
}

func (c *crew) cast() *crew { return c }

func (c *crew) violate(rule string) {
	c.w.Log("VIOLATED: %s", rule)
	c.violations = append(c.violations, rule)
}

// fill starts a process in every slot that has none.
func (c *crew) fill() {
	for i := range c.slots {
		c.fillSlot(i)
	}
}

func (c *crew) fillSlot(i int) {
	if p := c.slots[i]; p == nil || !p.Alive() {
		c.slots[i] = c.start(fmt.Sprintf("#%d", i))
	}
}

// act does the moves that every crew knows.
func (c *crew) act(m move) {
	p := c.slots[m.who]
	switch m.kind {
	case "pass":
		c.pass(m.n)
	case "start":
		c.fillSlot(m.who)
	case "steps":
		p.Run(m.n)
	case "kill":
		p.Kill()
	case "stop":
		p.Stop()
	case "resume":
		p.Resume()
	case "power cut":
		c.w.PowerCut()
		c.fill()
	default:
		panic("proptest: a move without a meaning: " + m.kind)
	}
}

// pass lets so many quanta pass, until a rule is broken.
func (c *crew) pass(quanta int) {
	for range quanta {
		if len(c.violations) > 0 {
			return
		}
		c.w.Advance(c.quantum)
		c.look()
	}
}

// finish lets every worker have one more turn. It tells whether all have ended
// within the limit, or a rule was broken.
func (c *crew) finish(limit time.Duration) bool {
	c.w.Log("everything is well again")
	c.closing = true
	for i, p := range c.slots {
		p.Resume()
		c.fillSlot(i)
	}
	for range limit / c.quantum {
		c.pass(1)
		if len(c.w.Processes()) == 0 || len(c.violations) > 0 {
			return true
		}
	}
	return false
}
