package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/rivus/tether/lanes"
)

// room is a chat room: an inbox, and what became of it.
type room struct {
	key string

	mu                         sync.Mutex
	inbox, answered, lost      int
	succeeded, failed, refused int
	stopped                    map[lanes.StopReason]int
	last                       string
}

// house is the rooms. They are made once.
type house struct{ rooms []*room }

func newHouse(n int) *house {
	h := &house{}
	for i := range n {
		h.rooms = append(h.rooms, &room{key: fmt.Sprintf("room:%d", i+1), stopped: map[lanes.StopReason]int{}})
	}
	return h
}

func (h *house) room(key string) *room {
	for _, r := range h.rooms {
		if r.key == key {
			return r
		}
	}
	panic("there is no " + key)
}

// some is a room at random; the first ones are busier.
func (h *house) some() *room {
	n := len(h.rooms)
	return h.rooms[min(rand.IntN(n), rand.IntN(n))]
}

func (r *room) post(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inbox += n
}

func (r *room) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused++
}

// take takes a message, if there is one.
func (r *room) take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inbox == 0 {
		return false
	}
	r.inbox--
	return true
}

// answer notes that a message was answered or lost, and gives its number.
func (r *room) answer(well bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if well {
		r.answered++
	} else {
		r.lost++
	}
	return r.answered + r.lost
}

// ended notes how a turn ended, and gives how much is left.
func (r *room) ended(exit lanes.ActivationExit) (left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch exit := exit.(type) {
	case lanes.ActivationSucceeded:
		r.succeeded++
		r.last = "done"
	case lanes.ActivationFailed:
		r.failed++
		r.last = exit.Cause.Err().Error()
	case lanes.ActivationInterrupted:
		r.stopped[exit.Reason]++
		r.last = "stopped by " + exit.Reason.String()
	}
	return r.inbox
}

// line is the room's progress.
func (r *room) line(state string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	bar := strings.Repeat("#", min(r.inbox, 20))
	return fmt.Sprintf("%-8s %-9s inbox %2d [%-20s] answered %3d  turns %2d  %s",
		r.key, state, r.inbox, bar, r.answered, r.succeeded+r.failed+r.stops(), r.last)
}

func (r *room) stops() int {
	n := 0
	for _, k := range r.stopped {
		n += k
	}
	return n
}

// sum is what became of the room in the end.
func (r *room) sum() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%-8s answered %3d, lost %d, left %2d; turns: %d done, %d failed, %d cancelled, %d too long, %d closed; %d wakes refused",
		r.key, r.answered, r.lost, r.inbox, r.succeeded, r.failed,
		r.stopped[lanes.StopCancel], r.stopped[lanes.StopTimeout], r.stopped[lanes.StopClose], r.refused)
}
