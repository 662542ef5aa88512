package main

import (
	"time"

	"github.com/rivus/tether/effect"
)

// waitFlag is --wait, with or without a longest time.
type waitFlag struct {
	on      bool
	longest time.Duration // 0: as long as it takes
}

const forEver = "forever"

// String, Set and Type implement pflag.Value.
func (w *waitFlag) String() string {
	switch {
	case !w.on:
		return ""
	case w.longest == 0:
		return forEver
	default:
		return w.longest.String()
	}
}

func (w *waitFlag) Set(text string) error {
	if text == forEver {
		*w = waitFlag{on: true}
		return nil
	}
	var d notNegative
	if err := d.Set(text); err != nil {
		return err
	}
	*w = waitFlag{on: d > 0, longest: time.Duration(d)}
	return nil
}

func (w *waitFlag) Type() string { return "duration" }

// await is once or, with --wait, waiting, of which people at a terminal are told: the
// first try tells who is in the way.
func await[A any](j *job, what string, once, waiting effect.Effect[A]) effect.Effect[A] {
	if !j.wait.on {
		return once
	}
	acquire := once.CatchIf(isHeld, func(err error) effect.Effect[A] {
		j.output.waiting(notice{Event: "waiting", Key: j.key, Path: j.path}, err)
		return waiting
	})
	if j.wait.longest == 0 {
		return acquire
	}
	return acquire.TimeoutOrElse(j.wait.longest, func() effect.Effect[A] { return effect.Fail[A](&stillHeld{what, j.wait.longest}) })
}

// stillHeld says that waiting was in vain.
type stillHeld struct {
	what   string
	waited time.Duration
}

func (e *stillHeld) Error() string {
	return e.what + " is still held by somebody else after " + e.waited.String()
}
