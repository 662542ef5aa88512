package lanes_test

import (
	"encoding/json"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/samber/mo"
)

func TestN2_Outcomes(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		c := s.config(1)
		c.MaxQueued = mo.Some(1)
		board := do.Await(lanes.Make(c))
		s.plays("a", s.reached("go", 1), s.reached("go", 2))
		s.equal("idle, free slot", do.Await(board.Wake("a")), lanes.Started)
		do.Await(s.reached("start a", 1))
		s.equal("running", do.Await(board.Wake("a")), lanes.Coalesced)
		s.equal("running, pending", do.Await(board.Wake("a")), lanes.Coalesced)
		s.equal("idle, no slot", do.Await(board.Wake("b")), lanes.Queued)
		s.equal("queued", do.Await(board.Wake("b")), lanes.Coalesced)
		err := do.Await(effect.Flip(board.Wake("c")))
		full, ok := err.(*lanes.QueueFull)
		if !ok || *full != (lanes.QueueFull{Key: "c", MaxQueued: 1}) {
			s.t.Errorf("full queue: got %v", err)
		}
		s.equal("full queue, queued", do.Await(board.Wake("b")), lanes.Coalesced)
		s.equal("full queue, running", do.Await(board.Wake("a")), lanes.Coalesced)
		do.Await(s.raising("go"))
		do.Await(s.reached("ended b", 1))
		do.Await(s.reached("start a", 2))
		do.Await(s.raising("go"))
		do.Await(s.reached("ended a", 2))
		do.Await(board.Close())
		s.equal("told", s.told(), "[a succeeded b succeeded a succeeded]")
		s.equal("one more for any number of wakes", s.started("a"), 2)
		s.equal("refused", s.started("c"), 0)
	})
}

func TestN2_WakeNeverWaits(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", effect.Never[effect.Unit]())
		for _, key := range []string{"a", "b", "c", "a", "b", "c"} {
			do.Await(board.Wake(key))
		}
		do.Await(board.Cancel("a"))
	})
}

func TestN2_NoQueue(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		c := s.config(1)
		c.MaxQueued = mo.Some(0)
		board := do.Await(lanes.Make(c))
		s.plays("a", s.reached("go", 1))
		do.Await(board.Wake("a"))
		if _, ok := do.Await(effect.Flip(board.Wake("b"))).(*lanes.QueueFull); !ok {
			s.t.Error("b was not refused")
		}
		// Coming back from running is never refused.
		do.Await(board.Wake("a"))
		do.Await(s.raising("go"))
		do.Await(s.reached("ended a", 2))
	})
}

// TestN3_F35_WakeWhileReturning wakes in the last step of the activation, in its
// finalizer, in OnExit and in its last event, when it looks at nothing any more.
func TestN3_F35_WakeWhileReturning(t *testing.T) {
	for _, at := range []string{"last step", "finalizer", "OnExit", "ended event"} {
		t.Run(at, func(t *testing.T) {
			everywhere(t, func(s *stage, do *effect.Do) {
				var inbox atomic.Int64
				inbox.Add(1)
				var board *lanes.Lanes
				say := func(where string) unit {
					return effect.Suspend(func() unit {
						if where != at || s.started("a") != 1 {
							return effect.Void()
						}
						inbox.Add(1)
						return board.Wake("a").AsUnit()
					})
				}
				c := s.config(1)
				take := effect.AddFinalizer(func(exit) unit { return say("finalizer") }).
					AndThen(effect.SyncUnit(func() { inbox.Store(0) })).AndThen(say("last step"))
				s.plays("a", take, take)
				c.OnExit = func(e lanes.ActivationExit) unit { return say("OnExit").AndThen(s.onExit(e)) }
				c.Observe = func(e lanes.Event) {
					if e.Kind == lanes.EventEnded && at == "ended event" && s.started("a") == 1 {
						inbox.Add(1)
						s.raise("ending")
					}
					s.observe(e)
				}
				board = do.Await(lanes.Make(c))
				do.Await(board.Wake("a"))
				if at == "ended event" {
					do.Await(s.reached("ending", 1))
					do.Await(board.Wake("a"))
				}
				do.Await(s.reached("ended a", 2))
				do.Await(board.Close())
				s.equal("left in the inbox", inbox.Load(), 0)
				s.equal("activations", s.started("a"), 2)
			})
		})
	}
}

func TestN4_OrderOfTheQueue(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.reached("go", 1))
		for _, key := range []string{"a", "b", "a", "c", "d"} {
			do.Await(board.Wake(key))
		}
		// a was woken again before c and d waited, but joins when it ends.
		do.Await(s.raising("go"))
		do.Await(s.reached("ended a", 2))
		s.equal("order", s.told(), "[a succeeded b succeeded c succeeded d succeeded a succeeded]")
	})
}

func TestN4_EverySlotIsUsed(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(3)))
		keys := []string{"a", "b", "c", "d", "e"}
		for _, key := range keys {
			s.plays(key, s.reached("go "+key, 1))
			do.Await(board.Wake(key))
		}
		st := do.Await(board.Status())
		s.equal("running and queued", []int{st.Running, st.Queued}, "[3 2]")
		do.Await(s.raising("go b"))
		do.Await(s.reached("start d", 1))
		do.Await(s.raising("go a"))
		do.Await(s.reached("start e", 1))
		st = do.Await(board.Status())
		s.equal("running and queued", []int{st.Running, st.Queued}, "[3 0]")
		for _, key := range []string{"c", "d", "e"} {
			do.Await(s.raising("go " + key))
			do.Await(s.reached("ended "+key, 1))
		}
	})
}

func TestN5_Config(t *testing.T) {
	activate := func(string) unit { return effect.Void() }
	good := lanes.Config{MaxConcurrent: 1, Activate: activate}
	for _, c := range []struct {
		name   string
		change func(*lanes.Config)
		valid  bool
	}{
		{"least", func(*lanes.Config) {}, true},
		{"most", func(c *lanes.Config) {
			c.MaxConcurrent, c.MaxQueued, c.TurnTimeout = math.MaxInt, mo.Some(math.MaxInt), math.MaxInt64
		}, true},
		{"no queue", func(c *lanes.Config) { c.MaxQueued = mo.Some(0) }, true},
		{"no slot", func(c *lanes.Config) { c.MaxConcurrent = 0 }, false},
		{"negative slots", func(c *lanes.Config) { c.MaxConcurrent = -1 }, false},
		{"negative queue", func(c *lanes.Config) { c.MaxQueued = mo.Some(-1) }, false},
		{"negative timeout", func(c *lanes.Config) { c.TurnTimeout = -time.Nanosecond }, false},
		{"no Activate", func(c *lanes.Config) { c.Activate = nil }, false},
	} {
		config := good
		c.change(&config)
		_, err := effect.Run(t.Context(), effect.Scoped(lanes.Make(config)))
		invalid, _ := errors.AsType[*lanes.ConfigInvalid](err)
		if c.valid != (err == nil) || c.valid != (invalid == nil) {
			t.Errorf("%s: got %v", c.name, err)
		}
		if invalid != nil && (invalid.Tag() != "LanesConfigInvalid" || invalid.Message == "") {
			t.Errorf("%s: got %v", c.name, invalid)
		}
	}
}

func TestN5_NewNeedsAScope(t *testing.T) {
	_, err := effect.Run(t.Context(), lanes.Make(lanes.Config{MaxConcurrent: 1, Activate: func(string) unit { return effect.Void() }}))
	if _, ok := errors.AsType[*effect.MissingService](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{&lanes.QueueFull{Key: "k", MaxQueued: 3}, `{"_tag":"LaneQueueFull","key":"k","maxQueued":3}`},
		{&lanes.Closed{Key: "k"}, `{"_tag":"LanesClosed","key":"k"}`},
		{&lanes.ConfigInvalid{Message: "no"}, `{"_tag":"LanesConfigInvalid","message":"no"}`},
		{lanes.ActivationSucceeded{Key: "k"}, `{"_tag":"ActivationSucceeded","key":"k"}`},
		{lanes.ActivationFailed{Key: "k", Cause: causeFail("x")}, `{"_tag":"ActivationFailed","key":"k","cause":{"_id":"Cause","reasons":[{"_tag":"Fail","error":"x"}]}}`},
		{lanes.ActivationInterrupted{Key: "k", Reason: lanes.StopTimeout}, `{"_tag":"ActivationInterrupted","key":"k","reason":"timeout"}`},
		{lanes.Coalesced, `"coalesced"`},
		{
			lanes.Status{Running: 1, Lanes: []lanes.LaneStatus{{Key: "k", State: lanes.StateRunning, Pending: true}}},
			`{"running":1,"queued":0,"closed":false,"lanes":[{"key":"k","state":"running","pending":true}]}`,
		},
		{lanes.Event{Kind: lanes.EventFull, Key: "k"}, `{"kind":"full","key":"k"}`},
	} {
		got, err := json.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v; want %s", got, err, c.want)
		}
	}
}
