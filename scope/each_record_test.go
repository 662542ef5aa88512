package scope_test

import "github.com/rivus/tether/scope"

// record stands for the fiber of an item.
type record struct {
	number int
	plan   plan
	// deaf: it inherited a mask.
	deaf, parked, interrupted bool
	exit                      *verdict
	// at is its item, and full whether its round ended at the limit, once it runs beside
	// the iteration.
	at   int
	full *bool
}

func (s script) planOf(k int) plan {
	if k < len(s.plans) {
		return s.plans[k]
	}
	return plan{known: true}
}

func (m *plainly) wake(whom []int) {
	for _, k := range whom {
		if k == itsOwner {
			m.interruptOwner()
			continue
		}
		p := m.parts[k]
		if p == nil || !p.parked {
			continue
		}
		p.parked = false
		m.wake(p.plan.after)
		m.end(p, p.plan.exit(k))
	}
}

func (m *plainly) interruptOwner() {
	if m.over || m.inMask {
		return
	}
	m.interrupted = true
	if m.waits {
		m.waits = false
		m.cleanUp(scope.CauseInterrupt(idStarter))
	}
}

// start runs a part up to its first wait.
func (m *plainly) start(k int) *record {
	p := &record{number: k, plan: m.planOf(k), deaf: m.inMask || m.masks && !m.over}
	m.parts[k] = p
	m.note("%d starts", k)
	m.wake(p.plan.before)
	if p.plan.parks {
		p.parked = true
	} else {
		m.end(p, p.plan.exit(k))
	}
	return p
}

func (m *plainly) interrupt(p *record) {
	if p.exit != nil || p.deaf {
		return
	}
	p.interrupted = true
	if p.parked && !p.plan.masked {
		p.parked = false
		m.end(p, p.plan.afterInterruption(p.number, scope.CauseInterrupt(idOwner)))
	}
}

func (m *plainly) end(p *record, c *scope.Cause) {
	if p.interrupted {
		c = c.AddInterrupts(scope.CauseInterrupt(idOwner))
	}
	m.note("%d ends: %v", p.number, c)
	p.exit = &verdict{c}
	if p.full != nil {
		m.orBreakDown(func() { m.hear(p) })
	}
	m.awaitRest()
}
