//go:build unix

package main

import "syscall"

func (c *child) stop() error   { return c.cmd.Process.Signal(syscall.SIGSTOP) }
func (c *child) resume() error { return c.cmd.Process.Signal(syscall.SIGCONT) }
