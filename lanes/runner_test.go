package lanes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
)

// plainStage is a Runner and what was seen of it. Inside a synctest bubble a test
// waits for what its activations have come to.
type plainStage struct {
	t      *testing.T
	runner *lanes.Runner

	mu     sync.Mutex
	log    bytes.Buffer
	starts []string
	exits  []lanes.ActivationExit
	events []string
}

// newPlainStage makes one whose activations are turn, and whose other fields config has.
func newPlainStage(t *testing.T, config lanes.RunnerConfig, turn func(ctx context.Context, key string) error) *plainStage {
	t.Helper()
	s := &plainStage{t: t}
	config.MaxConcurrent = max(config.MaxConcurrent, 1)
	config.Activate = func(ctx context.Context, key string) error {
		s.mu.Lock()
		s.starts = append(s.starts, key)
		s.mu.Unlock()
		return turn(ctx, key)
	}
	if config.OnExit == nil {
		config.OnExit = s.onExit
	}
	config.Observe = func(e lanes.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, e.Kind.String()+" "+e.Key)
	}
	config.Logger = slog.New(slog.NewTextHandler(lockedBuffer{s}, nil))
	r, err := lanes.NewRunner(config)
	if err != nil {
		t.Fatal(err)
	}
	s.runner = r
	return s
}

type lockedBuffer struct{ s *plainStage }

func (b lockedBuffer) Write(p []byte) (int, error) {
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	return b.s.log.Write(p)
}

func (s *plainStage) onExit(_ context.Context, e lanes.ActivationExit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exits = append(s.exits, e)
}

func (s *plainStage) wake(key string, want lanes.Outcome) {
	s.t.Helper()
	if got, err := s.runner.Wake(key); got != want || err != nil {
		s.t.Errorf("wake %s: %v, %v, want %v", key, got, err, want)
	}
}

func (s *plainStage) told() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, e := range s.exits {
		out = append(out, tell(e))
	}
	return fmt.Sprint(out)
}

func (s *plainStage) started() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.starts)
}

func (s *plainStage) equal(what string, got, want any) {
	s.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		s.t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// untilStopped is a turn that waits for its end and says why it came.
func untilStopped(ctx context.Context, _ string) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// bubble runs body in a synctest bubble.
func bubble(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, body)
}

func TestN5_PlainConfig(t *testing.T) {
	ok := lanes.RunnerConfig{MaxConcurrent: 1, Activate: untilStopped}
	for name, change := range map[string]func(*lanes.RunnerConfig){
		"MaxConcurrent": func(c *lanes.RunnerConfig) { c.MaxConcurrent = 0 },
		"MaxQueued":     func(c *lanes.RunnerConfig) { c.MaxQueued = -2 },
		"TurnTimeout":   func(c *lanes.RunnerConfig) { c.TurnTimeout = -1 },
		"Activate":      func(c *lanes.RunnerConfig) { c.Activate = nil },
	} {
		c := ok
		change(&c)
		_, err := lanes.NewRunner(c)
		invalid, is := errors.AsType[*lanes.ConfigInvalid](err)
		if !is || !strings.Contains(invalid.Message, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := lanes.NewRunner(ok); err != nil {
		t.Error(err)
	}
}

// N1, N2, N4: the same order and outcomes as of Lanes.
func TestN1_N2_N4_PlainOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		s := newPlainStage(t, lanes.RunnerConfig{MaxQueued: 2}, func(context.Context, string) error { <-release; return nil })
		s.wake("a", lanes.Started)
		s.wake("b", lanes.Queued)
		s.wake("a", lanes.Coalesced)
		s.wake("c", lanes.Queued)
		s.wake("b", lanes.Coalesced)
		_, err := s.runner.Wake("d")
		if full, ok := errors.AsType[*lanes.QueueFull](err); !ok || full.MaxQueued != 2 {
			t.Errorf("got %v", err)
		}
		s.equal("status", s.runner.Status(), "{1 2 false [{a running true} {b queued true} {c queued true}]}")
		for range 4 {
			release <- struct{}{}
			synctest.Wait()
		}
		s.equal("started", s.started(), "[a b c a]")
		s.equal("told", s.told(), "[a succeeded b succeeded c succeeded a succeeded]")
	})
}

func TestN2_PlainNoQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newPlainStage(t, lanes.RunnerConfig{MaxQueued: lanes.NoQueue}, untilStopped)
		s.wake("a", lanes.Started)
		if _, err := s.runner.Wake("b"); err == nil {
			t.Error("b may wait")
		}
		_ = s.runner.Close(t.Context())
	})
}

// N10: OnExit hears what Activate came to, and nothing is logged then; without OnExit a
// failure is.
func TestN10_PlainExits(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		turn      func(context.Context, string) error
		told, log string
	}{
		{func(context.Context, string) error { return nil }, "[a succeeded]", ""},
		{func(context.Context, string) error { return boom }, "[a failed Cause(Fail(boom))]", "boom"},
		{func(context.Context, string) error { panic("at sea") }, "[a failed Cause(Die(at sea))]", "runner_test.go"},
		{func(context.Context, string) error { runtime.Goexit(); return nil }, "[a failed Cause(Die(runtime.Goexit was called on a fiber))]", "Goexit"},
	} {
		t.Run(c.told, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newPlainStage(t, lanes.RunnerConfig{}, c.turn)
				s.wake("a", lanes.Started)
				synctest.Wait()
				s.equal("told", s.told(), c.told)
				s.equal("log", s.log.String(), "")
				s.wake("a", lanes.Started)
				if err := s.runner.Drain(t.Context()); err != nil {
					t.Error(err)
				}
				// The same, and nobody listens.
				var log bytes.Buffer
				r, _ := lanes.NewRunner(lanes.RunnerConfig{MaxConcurrent: 1, Activate: c.turn, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				_, _ = r.Wake("a")
				synctest.Wait()
				if got := log.String(); !strings.Contains(got, c.log) || (c.log == "") != (got == "") {
					t.Errorf("logged %q", got)
				}
			})
		})
	}
}

// N7, N10: an activation's context says why it ends, as a Go programmer asks.
func TestN7_N8_N9_PlainStops(t *testing.T) {
	for _, c := range []struct {
		reason lanes.StopReason
		stop   func(r *lanes.Runner) error
		err    error
	}{
		{lanes.StopCancel, func(r *lanes.Runner) error { return r.Cancel(context.Background(), "a") }, context.Canceled},
		{lanes.StopClose, func(r *lanes.Runner) error { return r.Close(context.Background()) }, context.Canceled},
		{lanes.StopTimeout, func(*lanes.Runner) error { time.Sleep(time.Minute); return nil }, context.DeadlineExceeded},
	} {
		t.Run(c.reason.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var ended, why error
				var at time.Duration
				began := time.Now()
				s := newPlainStage(t, lanes.RunnerConfig{TurnTimeout: 30 * time.Second}, func(ctx context.Context, _ string) error {
					if d, ok := ctx.Deadline(); !ok || d.Sub(began) != 30*time.Second {
						t.Errorf("the deadline is %v, %v", d, ok)
					}
					<-ctx.Done()
					at, ended, why = time.Since(began), ctx.Err(), context.Cause(ctx)
					return ended
				})
				s.wake("a", lanes.Started)
				synctest.Wait()
				if err := c.stop(s.runner); err != nil {
					t.Error(err)
				}
				s.equal("told", s.told(), "[a interrupted "+c.reason.String()+"]")
				s.equal("ctx.Err()", ended, c.err)
				stopped, ok := errors.AsType[*lanes.Stopped](why)
				if !ok || stopped.Reason != c.reason || stopped.Key != "a" {
					t.Errorf("the cause is %v", why)
				}
				if c.reason == lanes.StopTimeout && at != 30*time.Second {
					t.Errorf("after %v", at)
				}
			})
		})
	}
}

// N7: one that ends well though its time is over has succeeded or was interrupted, but
// has not failed.
func TestN7_PlainEndAtTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newPlainStage(t, lanes.RunnerConfig{TurnTimeout: time.Second}, func(ctx context.Context, _ string) error {
			time.Sleep(time.Second)
			return ctx.Err()
		})
		for range 100 {
			s.wake("a", lanes.Started)
			time.Sleep(2 * time.Second)
		}
		if strings.Contains(s.told(), "failed") {
			t.Error(s.told())
		}
	})
}

// N8: Cancel waits for the end, its ctx ends the wait, and a later wake is served.
func TestN8_PlainCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clean := make(chan struct{})
		s := newPlainStage(t, lanes.RunnerConfig{}, func(ctx context.Context, key string) error {
			if key == "b" {
				return nil
			}
			<-ctx.Done()
			<-clean
			return nil
		})
		s.wake("a", lanes.Started)
		s.wake("a", lanes.Coalesced)
		s.wake("b", lanes.Queued)
		s.wake("c", lanes.Queued)
		synctest.Wait()
		why := errors.New("tired")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		if err := s.runner.Cancel(ctx, "a"); !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		for _, key := range []string{"c", "nobody"} {
			if err := s.runner.Cancel(t.Context(), key); err != nil {
				t.Error(err)
			}
		}
		close(clean)
		if err := s.runner.Cancel(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		s.equal("started", s.started(), "[a b]")
		s.equal("status", s.runner.Status(), "{0 0 false []}")
		s.wake("c", lanes.Started)
		_ = s.runner.Close(t.Context())
	})
}

// N9: with a context that has ended, too, the lanes close.
func TestN9_PlainCloseWithoutTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newPlainStage(t, lanes.RunnerConfig{}, untilStopped)
		s.wake("a", lanes.Started)
		s.wake("b", lanes.Queued)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.runner.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		synctest.Wait()
		s.equal("told", s.told(), "[a interrupted close]")
		_, err := s.runner.Wake("a")
		if _, ok := errors.AsType[*lanes.Closed](err); !ok {
			t.Errorf("got %v", err)
		}
	})
}

// N12: what would wait for its own end is refused, from Activate and from OnExit, with
// a context derived from theirs, and by effects too.
func TestN12_PlainInside(t *testing.T) {
	calls := map[string]struct {
		call   func(ctx context.Context, r *lanes.Runner) error
		closes bool
	}{
		"Cancel": {func(ctx context.Context, r *lanes.Runner) error { return r.Cancel(ctx, "a") }, false},
		"Drain":  {func(ctx context.Context, r *lanes.Runner) error { return r.Drain(ctx) }, false},
		"Close":  {func(ctx context.Context, r *lanes.Runner) error { return r.Close(ctx) }, true},
	}
	for name, c := range calls {
		for where, inReport := range map[string]bool{"Activate": false, "OnExit": true} {
			t.Run(name+" in "+where, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					var s *plainStage
					var got error
					call := func(ctx context.Context) {
						ctx, cancel := context.WithTimeout(ctx, time.Hour)
						defer cancel()
						got = c.call(ctx, s.runner)
					}
					config := lanes.RunnerConfig{}
					if inReport {
						config.OnExit = func(ctx context.Context, _ lanes.ActivationExit) { call(ctx) }
					}
					s = newPlainStage(t, config, func(ctx context.Context, _ string) error {
						if !inReport {
							call(ctx)
						}
						return nil
					})
					s.wake("a", lanes.Started)
					synctest.Wait()
					self, ok := errors.AsType[*lanes.SelfDeadlock](got)
					if !ok || self.Operation != name || self.Key != "a" || !strings.Contains(got.Error(), name+" would wait for its own end") {
						t.Errorf("got %v", got)
					}
					s.equal("closed", s.runner.Status().Closed, c.closes)
				})
			})
		}
	}
	t.Run("another key, and afterwards", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var s *plainStage
			var kept context.Context
			s = newPlainStage(t, lanes.RunnerConfig{MaxConcurrent: 2}, func(ctx context.Context, key string) error {
				if key == "a" {
					kept = context.WithoutCancel(ctx)
					return s.runner.Cancel(ctx, "b")
				}
				return untilStopped(ctx, key)
			})
			s.wake("b", lanes.Started)
			s.wake("a", lanes.Started)
			synctest.Wait()
			s.equal("told", s.told(), "[b interrupted cancel a succeeded]")
			if err := s.runner.Drain(kept); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("lanes of effects inside", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			var got error
			var s *plainStage
			s = newPlainStage(t, lanes.RunnerConfig{}, func(ctx context.Context, _ string) error {
				_, err := effect.Run(ctx, effect.Blocking(func(ctx context.Context) (effect.Unit, error) {
					got = s.runner.Cancel(ctx, "a")
					return effect.Unit{}, nil
				}))
				return err
			})
			s.wake("a", lanes.Started)
			synctest.Wait()
			if _, ok := errors.AsType[*lanes.SelfDeadlock](got); !ok {
				t.Errorf("got %v", got)
			}
		})
	})
}

// N12: a panic in OnExit is logged, and the lane goes on.
func TestN12_PlainOnExitPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newPlainStage(t, lanes.RunnerConfig{
			OnExit: func(context.Context, lanes.ActivationExit) { panic("at sea") },
		}, func(context.Context, string) error { return nil })
		for range 2 {
			s.wake("a", lanes.Started)
			synctest.Wait()
		}
		s.equal("started", s.started(), "[a a]")
		if !strings.Contains(s.log.String(), "at sea") {
			t.Errorf("logged %s", &s.log)
		}
	})
}

// N15: a drain by context.
func TestN15_PlainDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newPlainStage(t, lanes.RunnerConfig{}, func(ctx context.Context, key string) error {
			select {
			case <-time.After(10 * time.Second):
				return nil
			case <-ctx.Done():
				time.Sleep(time.Hour)
				return ctx.Err()
			}
		})
		for _, key := range []string{"a", "b", "c"} {
			_, _ = s.runner.Wake(key)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		err := s.runner.Drain(ctx)
		left, ok := errors.AsType[*lanes.Undrained](err)
		if !ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		s.equal("left", []any{left.Interrupted, left.Dropped}, "[[b] [c]]")
		s.equal("text", err, `lanes: not drained: interrupted "b"; dropped "c": context deadline exceeded`)
		// It waited for what it interrupted.
		s.equal("after", time.Since(began), 15*time.Second+time.Hour)
		s.equal("told", s.told(), "[a succeeded b interrupted close]")
		if err := s.runner.Drain(t.Context()); err == nil {
			t.Error("a later call does not tell that the drain was cut short")
		}
	})
}

func TestN15_PlainDrainInTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newPlainStage(t, lanes.RunnerConfig{}, func(context.Context, string) error { time.Sleep(time.Second); return nil })
		for _, key := range []string{"a", "b", "a"} {
			_, _ = s.runner.Wake(key)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.runner.Drain(ctx); err != nil {
			t.Error(err)
		}
		s.equal("started", s.started(), "[a b a]")
		s.equal("status", s.runner.Status(), "{0 0 true []}")
		if err := s.runner.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// N15: a context that has ended leaves no time.
func TestN15_PlainDrainWithoutTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newPlainStage(t, lanes.RunnerConfig{}, untilStopped)
		s.wake("a", lanes.Started)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		left, ok := errors.AsType[*lanes.Undrained](s.runner.Drain(ctx))
		if !ok || !errors.Is(left, context.Canceled) {
			t.Fatalf("got %v", left)
		}
		s.equal("interrupted", left.Interrupted, "[a]")
	})
}

// N13: a wake that coalesces allocates nothing, and idle lanes cost no memory.
func TestN13_PlainCost(t *testing.T) {
	release := make(chan struct{})
	s := newPlainStage(t, lanes.RunnerConfig{}, func(context.Context, string) error { <-release; return nil })
	r, _ := lanes.NewRunner(lanes.RunnerConfig{MaxConcurrent: 1, Activate: func(context.Context, string) error { <-release; return nil }})
	_, _ = r.Wake("a")
	if n := testing.AllocsPerRun(100, func() { _, _ = r.Wake("a") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	close(release)
	if err := r.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	s.equal("status", r.Status(), "{0 0 true []}")
}

// N1, N3, N9, N14: many producers, few slots, a drain and a close at the end.
func TestN1_N3_PlainInParallel(t *testing.T) {
	const keys, producers = 7, 8
	messages := 3000
	if raced {
		messages = 300
	}
	var inbox, taken [keys]atomic.Int64
	var busy [keys]atomic.Int64
	var running atomic.Int64
	r, err := lanes.NewRunner(lanes.RunnerConfig{
		MaxConcurrent: 3, Logger: silent,
		Activate: func(_ context.Context, key string) error {
			k := int(key[0] - 'a')
			if busy[k].Add(1) != 1 || running.Add(1) > 3 {
				t.Error("N1: too many run")
			}
			runtime.Gosched()
			taken[k].Add(inbox[k].Swap(0))
			running.Add(-1)
			busy[k].Add(-1)
			return nil
		},
		OnExit: func(_ context.Context, e lanes.ActivationExit) {
			if _, ok := e.(lanes.ActivationSucceeded); !ok {
				t.Errorf("%v", e)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for p := range producers {
		all.Go(func() {
			for n := range messages {
				k := (p + n) % keys
				inbox[k].Add(1)
				if _, err := r.Wake(string(rune('a' + k))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := r.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	total := int64(0)
	for k := range keys {
		total += taken[k].Load()
	}
	if total != int64(producers*messages) {
		t.Errorf("N3: %d of %d messages were taken", total, producers*messages)
	}
}
