package main

import "errors"

var errNoSignals = errors.New("a process cannot be stopped and resumed on Windows, where leases need an identity that it has not got")

func (c *child) stop() error   { return errNoSignals }
func (c *child) resume() error { return errNoSignals }
