package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
)

// display prints a line for each room: in place on a terminal, else the lines
// that have changed.
type display struct {
	house  *house
	out    io.Writer
	redraw bool
	shown  map[string]string
}

func (d *display) refresh(board *lanes.Lanes) unit {
	return board.Status().FlatMap(func(st lanes.Status) unit {
		return effect.SyncUnit(func() { d.print(st) })
	})
}

func (d *display) print(st lanes.Status) {
	states := map[string]string{}
	for _, l := range st.Lanes {
		states[l.Key] = l.State.String()
		if l.Pending {
			states[l.Key] += "+"
		}
	}
	var text strings.Builder
	if d.redraw && d.shown != nil {
		fmt.Fprintf(&text, "\x1b[%dA", len(d.house.rooms))
	}
	next := map[string]string{}
	for _, r := range d.house.rooms {
		line := r.line(states[r.key])
		next[r.key] = line
		switch {
		case d.redraw:
			fmt.Fprintf(&text, "%s\x1b[K\n", line)
		case line != d.shown[r.key]:
			fmt.Fprintln(&text, line)
		}
	}
	d.shown = next
	fmt.Fprint(d.out, text.String())
}

// sum prints the end of every room. The lanes are closed by then.
func (d *display) sum() {
	for _, r := range d.house.rooms {
		fmt.Fprintln(d.out, r.sum())
	}
}
