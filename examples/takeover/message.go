package main

// message is what a worker tells its parent, one JSON object a line.
type message struct {
	Worker     string `json:"worker"`
	PID        int    `json:"pid"`
	What       what   `json:"what"`
	Generation int64  `json:"generation,omitempty"`
	Text       string `json:"text,omitempty"`
}

type what string

const (
	isHeld    what = "held"    // Acquire was refused
	acquired  what = "acquire" // it has the lease
	wrote     what = "write"   // it has written a line to the log
	paused    what = "pause"   // it holds the lease and does nothing until it is told
	refused   what = "refused" // a write was refused
	gone      what = "gone"    // the process has ended; the parent's own
	malformed what = "malformed"
)

// The commands, one a line; the end of the input ends the worker.
const (
	cmdPause  = "pause"
	cmdResume = "resume"
)
