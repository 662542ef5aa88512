package main

import (
	"strconv"
	"time"

	"github.com/rivus/tether/errors"
)

// positive and notNegative are flags with a duration.
type (
	positive    time.Duration
	notNegative time.Duration
)

// leaseTime is a flag with the TTL of a lease.
type leaseTime time.Duration

// leastTTL is the shortest TTL that can be kept. Of a TTL there must be left, when CMD
// begins: the start of two processes and some synced writes, a renewal on a machine
// that is busy, and half of it for a renewal that fails.
const leastTTL = time.Second

var (
	errNotPositive = errors.New("it must be positive")
	errNegative    = errors.New("it must not be negative")
	errTooShort    = errors.New("it must be at least " + leastTTL.String() + ", since a shorter lease is lost while CMD is being started")
)

// String, Set and Type implement pflag.Value.
func (d *positive) String() string { return time.Duration(*d).String() }

func (d *positive) Set(text string) error {
	return set((*time.Duration)(d), text, 1, errNotPositive)
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
	return set((*time.Duration)(d), text, 0, errNegative)
}

func (d *notNegative) Type() string { return "duration" }

// String, Set and Type implement pflag.Value.
func (d *leaseTime) String() string { return time.Duration(*d).String() }

func (d *leaseTime) Set(text string) error {
	return set((*time.Duration)(d), text, leastTTL, errTooShort)
}

func (d *leaseTime) Type() string { return "duration" }

// natural is a flag with a number from 1; 0 when it is not given.
type natural int

var errNotNatural = errors.New("it must be a number from 1")

// String, Set and Type implement pflag.Value.
func (n *natural) String() string { return strconv.Itoa(int(*n)) }

func (n *natural) Set(text string) error {
	parsed, err := strconv.Atoi(text)
	if err != nil || parsed < 1 {
		return errNotNatural
	}
	*n = natural(parsed)
	return nil
}

func (n *natural) Type() string { return "number" }

// set sets a duration that is not less than least; the failure is less, if it is.
func set(d *time.Duration, text string, least time.Duration, less error) error {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	if parsed < least {
		return less
	}
	*d = parsed
	return nil
}
