package lease_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivus/tether/lease"
)

// plain runs the commands of a worker that uses the plain methods.
func (w *worker) plain(c command) {
	switch c.Do {
	case "take":
		var options []lease.AcquireOption
		if c.Wait {
			options = append(options, lease.Wait())
		}
		h, err := w.manager.Take(context.Background(), key, options...)
		r := answer("take", err)
		if err == nil {
			w.holding = h
			r.Generation = h.Token().Generation
		}
		w.say(r)
	case "plain work":
		go func() {
			w.say(answer("ended", w.holding.RunFenced(context.Background(), func(ctx context.Context, token lease.FencingToken) error {
				fmt.Fprintf(w.log, "begin %d %d\n", w.Serial, token.Generation)
				w.say(reply{Do: "began", At: monotonic()})
				<-ctx.Done()
				fmt.Fprintf(w.log, "end %d %d\n", w.Serial, token.Generation)
				return nil
			})))
		}()
	case "close":
		w.say(answer("close", w.holding.Close()))
	}
}

// L18: a killed holder is taken over at once, by one of those that try.
func TestL18_PlainHolderIsKilled(t *testing.T) {
	dir := t.TempDir()
	s := quick("sqlite", dir)
	s.TTL, s.Heartbeat = time.Hour, time.Minute
	contenders := []*peer{spawn(t, s), spawn(t, s), spawn(t, s)}
	for range rounds(8, 2) {
		victim := spawn(t, s)
		before := victim.must(command{Do: "take", Wait: true}).Generation
		victim.Signal(syscall.SIGKILL)
		victim.AwaitZombie()
		for _, c := range contenders {
			c.Tell(command{Do: "take"})
		}
		var winner *peer
		for _, c := range contenders {
			switch r := c.reply(); {
			case r.OK && (winner != nil || r.Generation != before+1):
				t.Fatalf("%+v after %d", r, before)
			case r.OK:
				winner = c
			case r.Tag != "LeaseHeld":
				t.Fatalf("%+v", r)
			}
		}
		if winner == nil {
			t.Fatal("nobody won")
		}
		winner.must(command{Do: "close"})
	}
}

// L19: a stopped holder is taken over after the TTL; when it resumes, its work's context
// ends, and a successor's work begins when that has returned.
func TestL19_PlainHolderIsStopped(t *testing.T) {
	dir := t.TempDir()
	s := quick("sqlite", dir)
	s.TTL, s.Heartbeat, s.Log, s.Serial = 400*time.Millisecond, 100*time.Millisecond, filepath.Join(dir, "log"), 1
	holder := spawn(t, s)
	s.Serial, s.Phases = 2, true
	next := spawn(t, s)
	first := holder.must(command{Do: "take", Wait: true}).Generation
	holder.Tell(command{Do: "plain work"})
	holder.Hear() // began
	holder.Tell(command{Do: "stop", Phase: "renewed"})
	holder.AwaitStopped()
	if r := next.must(command{Do: "take", Wait: true}); r.Generation != first+1 {
		t.Fatalf("%+v", r)
	}
	next.Tell(command{Do: "plain work"})
	next.until("fence") // it waits for it
	if log, err := os.ReadFile(s.Log); err != nil || strings.Contains(string(log), "begin 2") {
		t.Fatalf("both work: %s, %v", log, err)
	}
	holder.Resume()
	if ended := holder.reply(); ended.Do != "ended" || ended.Tag != "LeaseLost" {
		t.Fatalf("%+v", ended)
	}
	if r := next.reply(); r.Do != "began" {
		t.Fatalf("%+v", r)
	}
	// It has nothing to release, and says so.
	if r := holder.Do(command{Do: "close"}); r.Tag != "LeaseLost" {
		t.Fatalf("%+v", r)
	}
	next.Kill()
	checkLog(t, s.Log, map[int]bool{2: true})
}
