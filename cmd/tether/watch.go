package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func watchCommand(o *output) *cobra.Command {
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "watch DB",
		Short: "Watch the leases: a live table in a terminal, a line for each change in a pipe",
		Long: `watch looks at DB again and again, until it is interrupted. In a terminal it shows
the table of ls; in a pipe, or with --json, it writes a line for every key at
first and for each change then. Renewals are no changes.

It ends with status 0 when SIGINT or SIGTERM ends it, with 2 when the tool failed,
or was called wrongly, and with 141 when nobody reads its output any more.`,
		Example: `  tether watch leases.db
  tether watch leases.db | grep --line-buffered dead
  tether watch leases.db --json --interval 5s | jq -c '{key, state}'`,
		Args:              exactly(1),
		ValidArgsFunction: completeFile,
		RunE: func(_ *cobra.Command, args []string) error {
			w := &watcher{output: o, db: database{platform.OS(), args[0]}, live: !o.json && liveTerminal()}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			_, err := effect.Run(ctx, w.loop(interval).StopOn(readerGone(os.Stdout)))
			if ctx.Err() != nil {
				return nil
			}
			return err
		},
	}
	interval = time.Second
	cmd.Flags().Var((*positive)(&interval), "interval", "how often to look")
	return cmd
}

// watcher looks at a database and tells what is new.
type watcher struct {
	output *output
	db     database
	live   bool // in a terminal
	seen   []entry
}

// liveTerminal tells whether stdout is a terminal that knows how to move its cursor.
func liveTerminal() bool {
	return term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// loop looks again and again. Who stops reading without going away keeps a write
// waiting: a signal must end the program even then.
func (w *watcher) loop(interval time.Duration) effect.Effect[effect.Unit] {
	look := effect.TryPromise(func(context.Context) (effect.Unit, error) { return effect.Unit{}, w.look() })
	return effect.GenUnit(func(do *effect.Do) {
		for {
			do.Await(look)
			do.Await(effect.Sleep(interval))
		}
	})
}

func (w *watcher) look() error {
	now, err := w.db.entries()
	if err != nil {
		return err
	}
	if w.live {
		// In one write, from the top, each line cleared before it is written (a full one ends
		// where clearing to the end would take its last character) and what is below
		// the last one too, so that nothing flickers.
		var screen bytes.Buffer
		if err := table(&screen, now); err != nil {
			return err
		}
		width, height, err := term.GetSize(int(os.Stdout.Fd()))
		if err != nil {
			width, height = 0, 0
		}
		lines := bytes.ReplaceAll(fit(screen.Bytes(), width, height), []byte("\n"), []byte("\n\x1b[K"))
		_, err = fmt.Fprintf(w.output.out, "\x1b[H\x1b[K%s\x1b[J", lines)
		return err
	}
	for _, e := range changes(w.seen, now) {
		if err := w.tell(e); err != nil {
			return err
		}
	}
	w.seen = now
	return nil
}

func (w *watcher) tell(e entry) error {
	if w.output.json {
		return w.output.value(e)
	}
	line := plain(e.Key) + " " + string(e.State)
	switch e.State {
	case held:
		line += fmt.Sprintf(" by %s (%s), generation %d", plain(e.holder()), e.Liveness, e.Generation)
	case free:
		line += fmt.Sprintf(", generation %d", e.Generation)
	case invalid:
		line += ": " + plain(e.Problem)
	case gone:
	}
	_, err := fmt.Fprintln(w.output.out, line)
	return err
}

// gone is how a key stands that was there before.
const gone state = "gone"

// changes are the entries of now that stand otherwise than before, and those that
// are gone. Both are in the order of keys.
func changes(before, now []entry) (changed []entry) {
	for len(before) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(before) > 0 && before[0].Key < now[0].Key:
			changed = append(changed, entry{Key: before[0].Key, State: gone})
			before = before[1:]
		case len(before) == 0 || now[0].Key < before[0].Key:
			changed = append(changed, now[0])
			now = now[1:]
		default:
			if !now[0].stands(before[0]) {
				changed = append(changed, now[0])
			}
			before, now = before[1:], now[1:]
		}
	}
	return changed
}

// stands tells whether two entries of a key differ by renewals at most.
func (e entry) stands(as entry) bool {
	return e.State == as.State && e.Liveness == as.Liveness && e.Generation == as.Generation &&
		e.HolderID == as.HolderID && e.Problem == as.Problem
}
