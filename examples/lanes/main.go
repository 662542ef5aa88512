// Command lanes is a small worker for chat rooms: people write into rooms, and one
// turn at a time answers what has come into a room, at most so many rooms at once.
// A line per room shows how far it is.
//
//	go run ./examples/lanes            until Ctrl-C
//	go run ./examples/lanes -for 5s    ends by itself
//
// Type the name of a room, as in "room:2", to cancel its turn.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rivus/tether/effect"
)

func main() {
	o := options{in: os.Stdin, out: os.Stdout}
	flag.DurationVar(&o.lasts, "for", 0, "how long to run; 0 is until Ctrl-C")
	flag.IntVar(&o.rooms, "rooms", 6, "how many rooms there are")
	flag.IntVar(&o.concurrent, "concurrent", 3, "how many rooms have a turn at once")
	flag.DurationVar(&o.turn, "turn", time.Second, "how long a turn may take")
	flag.Parse()
	o.redraw = isTerminal(os.Stdout)

	// Ctrl-C interrupts the program's main fiber. That closes its scope, which
	// closes the lanes, which stops and awaits the turns.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, err := effect.Run(ctx, program(o)); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
