//go:build unix && !linux

package main

import "syscall"

// orphansAreOurs: here orphans are init's, and only the process group is known.
const orphansAreOurs = false

func adoptOrphans() {}

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func descendants(int) []int { return nil }
