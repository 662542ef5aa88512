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
	var of page
	cmd := &cobra.Command{
		Use:   "watch DB",
		Short: "Watch the leases: a live table in a terminal, a line for each change in a pipe",
		Long: `watch looks at DB again and again, until it is interrupted. In a terminal it shows
the table of ls; in a pipe, or with --json, it writes a line for every key at
first and for each change then. Renewals are no changes. It looks less often when
a look takes long, so that it never takes more than 5% of a core.

It ends with status 0 when SIGINT or SIGTERM ends it, with 2 when the tool failed,
or was called wrongly, and with 141 when nobody reads its output any more.`,
		Example: `  tether watch leases.db
  tether watch leases.db | grep --line-buffered dead
  tether watch leases.db --json --interval 5s | jq -c '{key, state}'`,
		Args:              exactly(1),
		ValidArgsFunction: completeFile,
		RunE: func(_ *cobra.Command, args []string) error {
			w := &watcher{output: o, db: database{platform.OS(), args[0]}, live: !o.json && liveTerminal(), prefix: of.prefix}
			w.follower.prefix = of.prefix
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			_, err := effect.Run(ctx, w.loop(interval).StopOn(readerGone(os.Stdout)))
			if ctx.Err() != nil {
				return nil
			}
			return err
		},
	}
	of.flags(cmd)
	interval = time.Second
	cmd.Flags().Var((*positive)(&interval), "interval", "how often to look, at most")
	return cmd
}

// watcher looks at a database and tells what is new.
type watcher struct {
	output   *output
	db       database
	live     bool // in a terminal
	prefix   string
	follower follower
	took     time.Duration // what the last look computed, without writing
}

// liveTerminal tells whether stdout is a terminal that knows how to move its cursor.
func liveTerminal() bool {
	return term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
}

// share is the part of a core that looking may take: one of so many.
const share = 20

// loop looks again and again. Who stops reading without going away keeps a write
// waiting: a signal must end the program even then.
func (w *watcher) loop(interval time.Duration) effect.Effect[effect.Unit] {
	look := effect.TryPromise(func(context.Context) (effect.Unit, error) { return effect.Unit{}, w.look() })
	return effect.GenUnit(func(do *effect.Do) {
		for {
			do.Await(look)
			do.Await(effect.Sleep(max(interval, share*w.took)))
		}
	})
}

func (w *watcher) look() error {
	if w.live {
		return w.draw()
	}
	began := computed()
	var changed []entry
	err := explain(w.db.path, toRead, w.db.retried(func(d database) error {
		return d.reading(func(conn platform.SQLiteConn) (err error) {
			changed, err = w.follower.look(conn, d.judgement())
			return err
		})
	}))
	w.took = computed() - began
	if err != nil {
		return err
	}
	for _, e := range changed {
		if err := w.tell(e); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the table in one write, from the top, each line cleared before it is
// written (a full one ends where clearing to the end would take its last character) and
// what is below the last one too, so that nothing flickers.
func (w *watcher) draw() error {
	began := computed()
	width, height := screenSize()
	var now []entry
	var total int
	err := explain(w.db.path, toRead, w.db.retried(func(d database) error {
		return d.reading(func(conn platform.SQLiteConn) (err error) {
			// What is below the screen nobody sees.
			if now, err = readPage(conn, page{prefix: w.prefix, limit: height}, d.judgement()); err != nil {
				return err
			}
			total, err = countKeys(conn, w.prefix)
			return err
		})
	}))
	w.took = computed() - began
	if err != nil {
		return err
	}
	var screen bytes.Buffer
	if err := table(&screen, now, width); err != nil {
		return err
	}
	lines := bytes.ReplaceAll(fit(screen.Bytes(), width, height, total-len(now)), []byte("\n"), []byte("\n\x1b[K"))
	_, err = fmt.Fprintf(w.output.out, "\x1b[H\x1b[K%s\x1b[J", lines)
	return err
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
