package main

import (
	"time"

	"github.com/rivus/tether/errors"
)

// positive and notNegative are flags with a duration.
type (
	positive    time.Duration
	notNegative time.Duration
)

var (
	errNotPositive = errors.New("it must be positive")
	errNegative    = errors.New("it must not be negative")
)

// String, Set and Type implement pflag.Value.
func (d *positive) String() string { return time.Duration(*d).String() }

func (d *positive) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err == nil && parsed <= 0 {
		err = errNotPositive
	}
	if err == nil {
		*d = positive(parsed)
	}
	return err
}

func (d *positive) Type() string { return "duration" }

// String, Set and Type implement pflag.Value.
func (d *notNegative) String() string {
	if *d == 0 {
		return "0" // which the help does not call a default
	}
	return time.Duration(*d).String()
}

func (d *notNegative) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err == nil && parsed < 0 {
		err = errNegative
	}
	if err == nil {
		*d = notNegative(parsed)
	}
	return err
}

func (d *notNegative) Type() string { return "duration" }
