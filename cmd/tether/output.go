package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/rivus/tether/errors"
	"golang.org/x/term"
)

// output is where the program writes. What is asked for goes to out; what it has to
// say beside that goes to err, because out is CMD's while one runs.
type output struct {
	out, err io.Writer
	json     bool
}

// value writes one JSON value as a line.
func (o *output) value(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = o.out.Write(append(data, '\n'))
	return err
}

// notice is what happened, for people or as a line of JSON.
type notice struct {
	Event string `json:"event"`
	Key   string `json:"key,omitempty"`
	Path  string `json:"path,omitempty"`
	Token int64  `json:"token,omitempty"`
	// Status is CMD's.
	Status *int `json:"status,omitempty"`
	// Error is who is in the way.
	Error errors.Tagged `json:"error,omitempty"`
}

// note writes a notice, in JSON only: people see CMD's output alone.
func (o *output) note(n notice) {
	if o.json {
		o.line(n)
	}
}

// waiting tells that the program waits, and why: in JSON, and to people who sit before
// it.
func (o *output) waiting(n notice, why error, wait waitFlag) {
	if o.json {
		n.Error, _ = errors.AsType[errors.Tagged](why)
		o.line(n)
	} else if term.IsTerminal(int(os.Stderr.Fd())) {
		limit := ""
		if wait.longest > 0 {
			limit = " up to " + wait.longest.String()
		}
		fmt.Fprintf(o.err, "tether: %v; waiting%s\n", why, limit)
	}
}

// fail writes an error. A tagged one is JSON as it is everywhere else.
func (o *output) fail(err error) {
	if !o.json {
		fmt.Fprintf(o.err, "tether: %v\n", err)
		return
	}
	fields := map[string]any{"event": "error", "message": err.Error()}
	if tagged, ok := errors.AsType[errors.Tagged](err); ok {
		fields["error"] = tagged
		if _, own := tagged.(json.Marshaler); !own {
			fields["error"] = map[string]string{"_tag": tagged.Tag()}
		}
	}
	o.line(fields)
}

func (o *output) line(v any) {
	if data, err := json.Marshal(v); err == nil {
		_, _ = o.err.Write(append(data, '\n'))
	}
}
