package proptest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// Schedule is what a chooser answered, one choice after the other. Choices that
// are not there are 0, the oldest of what is ready.
type Schedule []int

// String is "0.2.1", without the zeros at the end; "-" has none.
func (s Schedule) String() string {
	for len(s) > 0 && s[len(s)-1] == 0 {
		s = s[:len(s)-1]
	}
	if len(s) == 0 {
		return "-"
	}
	var b strings.Builder
	for i, choice := range s {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.Itoa(choice))
	}
	return b.String()
}

// ParseSchedule is the opposite of String.
func ParseSchedule(text string) (Schedule, error) {
	if text == "-" {
		return nil, nil
	}
	var s Schedule
	for part := range strings.SplitSeq(text, ".") {
		choice, err := strconv.Atoi(part)
		if err != nil || choice < 0 {
			return nil, errors.New("a schedule is numbers with dots between, such as 0.2.1, and not " + strconv.Quote(text))
		}
		s = append(s, choice)
	}
	return s, nil
}

// Chooser follows the schedule.
func (s Schedule) Chooser() scope.Chooser {
	at := 0
	return func(n int) int {
		choice := 0
		if at < len(s) {
			choice = s[at]
		}
		at++
		return min(choice, n-1)
	}
}

// drawn is a schedule that rapid chooses while it is used, so that a failing one
// shrinks choice by choice.
type drawn struct {
	t      *rapid.T
	made   Schedule
	raised any
}

// choose never panics: rapid ends an attempt by a panic, which a fiber would take
// for a defect of the program. finish raises it again.
func (d *drawn) choose(n int) (choice int) {
	if d.raised != nil {
		return 0
	}
	defer func() {
		if r := recover(); r != nil {
			d.raised, choice = r, 0
		}
	}()
	choice = rapid.IntRange(0, n-1).Draw(d.t, "choice")
	d.made = append(d.made, choice)
	return choice
}

func (d *drawn) finish() {
	if d.raised != nil {
		panic(d.raised)
	}
}

// explored is what a run under a drawn schedule gave. Rapid prints it as the
// schedule alone.
type explored[R any] struct {
	schedule Schedule
	result   R
}

func (e explored[R]) GoString() string { return fmt.Sprintf("%v", e.schedule) }

// explore gives run a chooser whose choices rapid makes and shrinks.
func explore[R any](t *rapid.T, run func(choose scope.Chooser) R) explored[R] {
	t.Helper()
	return rapid.Custom(func(t *rapid.T) explored[R] {
		// Rapid refuses a generator that draws nothing, and a program may have
		// nothing to choose.
		rapid.Bool().Draw(t, "explored")
		d := &drawn{t: t}
		result := run(d.choose)
		d.finish()
		return explored[R]{d.made, result}
	}).Draw(t, "schedule")
}

// many is about 25 of what g makes. Rapid's own slices are short; these are
// several of them, each of which shrinks to nothing.
func many[V any](g *rapid.Generator[V]) *rapid.Generator[[]V] {
	some := rapid.SliceOfN(g, 0, -1)
	return rapid.Custom(func(t *rapid.T) []V {
		var all []V
		for range 5 {
			all = append(all, some.Draw(t, "some")...)
		}
		return all
	})
}
