package scope_test

import (
	"fmt"
	"slices"

	"github.com/rivus/tether/scope"
)

// plainly plays a script by Each's rules told once more, all in one place, on records
// in place of fibers: whatever happens is a call, as on a single thread.
type plainly struct {
	script
	story []string
	parts map[int]*record
	// places are where the results of numbers belong.
	places map[int]int

	// The rules' state. A nil verdict is none yet, one without a cause a stop.
	at, made int
	first    *int // the number of an item that was made and waits for its start
	running  []*record
	verdict  *verdict
	drained  bool

	// The fiber of the iteration: what it goes on with, once that is known, whether it
	// puts the iteration up still, waits (framed: with a cleanup in place), or awaits
	// the parts that it has interrupted, masked.
	next                 func()
	begins, waits, masks bool
	framed, interrupted  bool
	over, succeeded      bool
	awaited              []*record
	then                 func()
}

type verdict struct{ cause *scope.Cause }

func (s script) plainly() []string {
	m := &plainly{script: s, parts: map[int]*record{}, places: map[int]int{}}
	m.run()
	m.wake(s.wakes)
	for range 100 {
		for k := range m.made {
			m.wake([]int{k})
		}
	}
	stuck := 0
	if !m.over {
		stuck++
	}
	for k := range m.made {
		if at, ok := m.places[k]; m.succeeded && ok {
			m.note("the result of number %d is at %d", k, at)
		}
		if p := m.parts[k]; p != nil && p.exit == nil {
			stuck++
		}
	}
	m.note("%d are stuck", stuck)
	return m.story
}

func (m *plainly) note(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf(format, args...))
}

// make gives the number of the item at m.at, and its exit if that is known.
func (m *plainly) make() (k int, known *verdict) {
	k = m.made
	m.made++
	m.note("item %d is made, number %d", m.at, k)
	p := m.planOf(k)
	if p.panics {
		panic("item")
	}
	if p.known {
		known = &verdict{p.exit(k)}
	}
	return k, known
}

// judge takes in an exit: a failure decides, a success has a place.
func (m *plainly) judge(k, at int, c *scope.Cause) {
	m.verdict = nil
	if c != nil {
		m.verdict = &verdict{c}
	} else {
		m.places[k] = at
	}
}

func (m *plainly) run() {
	defer func() {
		if r := recover(); r != nil {
			m.ends(scope.CauseDie(r))
		}
	}()
	for m.at < m.items {
		k, known := m.make()
		if known == nil {
			m.first = &k
			m.begin()
			return
		}
		if m.judge(k, m.at, known.cause); m.verdict != nil {
			m.ends(known.cause)
			return
		}
		m.at++
	}
	m.ends(nil)
}

func (m *plainly) begin() {
	m.begins = true
	m.orBreakDown(m.round)
	m.begins = false
	switch {
	case m.next == nil && m.interrupted:
		m.cleanUp(scope.CauseInterrupt(idStarter))
	case m.next == nil:
		m.waits, m.framed = true, true
	case m.interrupted:
		m.ends(scope.CauseInterrupt(idStarter))
	default:
		m.next()
	}
}

// orBreakDown is fn, whose panic ends the iteration.
func (m *plainly) orBreakDown(fn func()) {
	defer func() {
		if r := recover(); r != nil {
			m.breakDown(scope.CauseDie(r))
		}
	}()
	fn()
}

// round starts what may start.
func (m *plainly) round() {
	full := new(bool)
	for m.verdict == nil && m.at < m.items {
		var k int
		var known *verdict
		if m.first != nil {
			k, m.first = *m.first, nil
		} else {
			k, known = m.make()
		}
		if known != nil {
			if m.judge(k, m.at, known.cause); m.verdict == nil {
				m.at++
			}
			continue
		}
		p := m.start(k)
		if p.exit != nil {
			if m.judge(k, m.at, p.exit.cause); m.verdict == nil {
				m.at++
			}
			continue
		}
		m.running = append(m.running, p)
		p.at, p.full = m.at, full
		m.at++
		if len(m.running) >= m.limit {
			*full = true
			return
		}
	}
	m.drained = true
	if len(m.running) == 0 {
		m.conclude()
		return
	}
	if m.verdict != nil {
		for _, p := range slices.Clone(m.running) {
			m.interrupt(p)
		}
	}
}

// hear takes in that p, which ran beside the iteration, has ended.
func (m *plainly) hear(p *record) {
	m.running = slices.DeleteFunc(slices.Clone(m.running), func(q *record) bool { return p == q })
	if m.verdict == nil {
		if m.judge(p.number, p.at, p.exit.cause); m.verdict != nil {
			m.round()
		}
	} else if rest := p.exit.cause.WithoutInterrupts(); rest != nil {
		m.verdict = &verdict{scope.CombineFinalizer(m.verdict.cause, rest)}
	} else if p.exit.cause == nil {
		// In case the verdict is overwritten. TypeScript has undefined there.
		m.places[p.number] = p.at
	}
	switch {
	case *p.full:
		m.round()
	case m.drained && len(m.running) == 0:
		m.conclude()
	}
}

// conclude has the fiber go on with the verdict as it is now.
func (m *plainly) conclude() {
	var c *scope.Cause
	if m.verdict != nil {
		c = m.verdict.cause
	}
	m.goOn(func() { m.leave(c) })
}

func (m *plainly) breakDown(defect *scope.Cause) {
	m.verdict, m.drained = &verdict{defect}, true
	running := m.running
	m.goOn(func() {
		m.masks = len(running) > 0
		m.interruptAll(running, func() {
			c := defect
			if m.verdict != nil {
				c = m.verdict.cause
			}
			if m.masks && m.interrupted {
				c = scope.CauseInterrupt(idStarter)
			}
			m.masks = false
			m.leave(c)
		})
	})
}

// goOn has the fiber do next, unless something else came first.
func (m *plainly) goOn(next func()) {
	if m.next != nil || m.over || m.masks {
		return
	}
	m.next = next
	if !m.begins {
		m.waits = false
		next()
	}
}

// leave ends the wait with c, and with its cleanup if that is in place.
func (m *plainly) leave(c *scope.Cause) {
	if m.interrupted {
		c = c.AddInterrupts(scope.CauseInterrupt(idStarter))
	}
	if m.framed && c.HasInterrupts() {
		m.cleanUp(c)
		return
	}
	m.ends(c)
}

func (m *plainly) cleanUp(c *scope.Cause) {
	m.masks = true
	if m.verdict == nil {
		m.verdict = &verdict{}
	}
	m.interruptAll(m.running, func() {
		if m.verdict != nil {
			c = scope.CombineFinalizer(c, m.verdict.cause)
		}
		m.ends(c)
	})
}

func (m *plainly) interruptAll(parts []*record, then func()) {
	m.awaited, m.then = nil, nil
	for _, p := range parts {
		m.interrupt(p)
	}
	m.awaited, m.then = parts, then
	m.awaitRest()
}

// awaitRest has the fiber go on when all that it awaits have ended.
func (m *plainly) awaitRest() {
	for _, p := range m.awaited {
		if p.exit == nil {
			return
		}
	}
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
}

func (m *plainly) ends(c *scope.Cause) {
	if m.interrupted {
		c = c.AddInterrupts(scope.CauseInterrupt(idStarter))
	}
	m.over, m.succeeded = true, c == nil
	m.note("it ends: %v", c)
}
