package lease_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

// seen is a record as histories know it. The ID begins with its client's number;
// none is a tombstone. The zero value is no record.
type seen struct {
	Generation, Revision int64
	ID                   string
}

func seenOf(r lease.Record) seen { return seen{r.Generation, r.Revision, r.HolderID.OrEmpty()} }

func (s seen) held() bool { return s.ID != "" }

// idOf is an id of a client's acquisition.
func idOf(client, n int) string { return fmt.Sprint(client, "/", n) }

// step is one operation of a history: what was asked for and what came of it.
type step struct {
	Do string // load, save, acquire, renew, release, kill, nothing

	Expected, Stored mo.Option[int64] // of a save, and what its conflict named
	Record           seen             // what was read, written, or is held as far as it is known
	Conflict, Held   bool
	// Unknown: whether it was written is not known, nor when.
	Unknown bool
	Client  int // of a kill
}

// register is the state of one key.
type register struct {
	seen
	dead uint64 // the clients that were killed, a bit for each
}

func (r register) free() bool {
	if !r.held() {
		return true
	}
	client, _, _ := strings.Cut(r.ID, "/")
	n, _ := strconv.Atoi(client)
	return r.dead&(1<<n) != 0
}

// then is the state after a write of next.
func (r register) then(next seen) register { return register{next, r.dead} }

// sequential is what one key does when one operation comes after the other.
var sequential = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, input, _ any) (bool, any) {
		r, s := state.(register), input.(step)
		next := r.seen
		next.Revision++
		ours := r.held() && r.Generation == s.Record.Generation && r.ID == s.Record.ID
		switch s.Do {
		case "load":
			return s.Record == r.seen, r
		case "save":
			revision := mo.None[int64]()
			if r.Revision > 0 {
				revision = mo.Some(r.Revision)
			}
			switch {
			case s.Conflict:
				return s.Stored == revision && s.Expected != revision, r
			case s.Expected != revision:
				return s.Unknown, r
			}
			return true, r.then(s.Record)
		case "acquire":
			if s.Held {
				return ours && !r.free(), r
			}
			next.Generation, next.ID = next.Generation+1, s.Record.ID
			if s.Unknown && !r.free() {
				return true, r
			}
			return r.free() && (s.Unknown || next.Generation == s.Record.Generation), r.then(next)
		case "renew":
			if !ours || next.Revision != s.Record.Revision {
				return s.Unknown, r
			}
			return true, r.then(next)
		case "release":
			if !ours {
				return s.Unknown, r
			}
			next.ID = ""
			return true, r.then(next)
		case "kill":
			r.dead |= 1 << s.Client
			return true, r
		}
		return s.Do == "nothing", r
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
}

// scribe takes down what one client does.
type scribe interface {
	// call notes that an operation begins. Until its end is known it is unknown:
	// it may take effect at any later time, or never.
	call(s step) (index int)
	end(index int, s step)
}

// history is taken from clients that know nothing of each other.
type history struct {
	start time.Time // of the recorders' clock
	mu    sync.Mutex
	ops   []porcupine.Operation
}

// scribe takes down what a goroutine does.
func (h *history) scribe(client int) scribe { return goroutine{h, client} }

type goroutine struct {
	h      *history
	client int
}

func (g goroutine) now() int64            { return int64(time.Since(g.h.start)) }
func (g goroutine) call(s step) int       { return g.h.begin(g.client, g.now(), s) }
func (g goroutine) end(index int, s step) { g.h.finish(index, g.now(), s) }

func (h *history) begin(client int, at int64, s step) (index int) {
	s.Unknown = true
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Call: at, Return: math.MaxInt64, Input: s})
	return len(h.ops) - 1
}

func (h *history) finish(index int, at int64, s step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops[index].Input = s
	if !s.Unknown {
		h.ops[index].Return = at
	}
}

func (h *history) check(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	ops := slices.Clone(h.ops)
	h.mu.Unlock()
	counts := map[string]int{}
	for i, op := range ops {
		s := op.Input.(step)
		if s.Do == "load" && s.Unknown { // nobody knows what it saw
			s.Do = "nothing"
			ops[i].Input = s
		}
		counts[fmt.Sprintf("%s %v", s.Do, !s.Conflict && !s.Held && !s.Unknown)]++
	}
	t.Logf("%d operations: %v", len(ops), counts)
	result, info := porcupine.CheckOperationsVerbose(sequential, ops, time.Minute)
	if result == porcupine.Ok {
		return
	}
	path := t.ArtifactDir() + "/history.html"
	_ = porcupine.VisualizePath(sequential, info, path)
	t.Fatalf("the history is %v; see %s (go test -artifacts)", result, path)
}
