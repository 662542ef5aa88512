package proptest

import (
	"slices"
	"strings"

	"github.com/rivus/tether/lanes"
)

// lanesModel is the reference: what runs, in the order of its slots, and what
// waits.
type lanesModel struct {
	limit, room int // room is negative without a bound
	running     []string
	pending     map[string]bool
	queue       []string
	closed      bool
}

// wake is the outcome, or "" when it is refused.
func (m *lanesModel) wake(key string) string {
	switch {
	case m.closed:
		return ""
	case slices.Contains(m.running, key):
		m.pending[key] = true
		return lanes.Coalesced.String()
	case slices.Contains(m.queue, key):
		return lanes.Coalesced.String()
	case len(m.running) < m.limit:
		m.running = append(m.running, key)
		return lanes.Started.String()
	case m.room < 0 || len(m.queue) < m.room:
		m.queue = append(m.queue, key)
		return lanes.Queued.String()
	default:
		return ""
	}
}

// drop takes away what the key is owed.
func (m *lanesModel) drop(key string) {
	delete(m.pending, key)
	m.queue = slices.DeleteFunc(m.queue, func(k string) bool { return k == key })
}

// end frees the key's slot: the key goes to the end of the queue when it is owed
// more, and then the front gets the slot.
func (m *lanesModel) end(key string) {
	m.running = slices.DeleteFunc(m.running, func(k string) bool { return k == key })
	if m.pending[key] {
		delete(m.pending, key)
		m.queue = append(m.queue, key)
	}
	if len(m.queue) > 0 {
		m.running = append(m.running, m.queue[0])
		m.queue = m.queue[1:]
	}
}

func (m *lanesModel) String() string {
	var b strings.Builder
	for _, key := range m.running {
		b.WriteString(key)
		if m.pending[key] {
			b.WriteString("+")
		}
		b.WriteString(" ")
	}
	return b.String() + "| " + strings.Join(m.queue, " ")
}

// showStatus is a Status in the model's words.
func showStatus(s lanes.Status) string {
	m := lanesModel{pending: map[string]bool{}}
	for _, l := range s.Lanes {
		if l.State == lanes.StateRunning {
			m.running = append(m.running, l.Key)
			m.pending[l.Key] = l.Pending
		} else {
			m.queue = append(m.queue, l.Key)
		}
	}
	return m.String()
}
