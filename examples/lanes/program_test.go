package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
)

// TestProgram runs the worker for a virtual minute.
func TestProgram(t *testing.T) {
	var out bytes.Buffer
	o := options{
		lasts: time.Minute, rooms: 4, concurrent: 2, turn: time.Second,
		in: strings.NewReader("room:1\nroom:2\nnobody\n"), out: &out,
	}
	result := effect.RunDeterministic(program(o), effect.DeterministicConfig{})
	if exit, ended := result.Exit.Get(); !ended || exit.IsFailure() {
		t.Fatalf("ended with %v\n%s", exit, result.Report)
	}
	text := out.String()
	for _, want := range []string{"room:1   running", "room:4   answered", "turns: "} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q", want)
		}
	}
}

// TestProgramCloses interrupts the worker, as Ctrl-C does.
func TestProgramCloses(t *testing.T) {
	read, write := io.Pipe()
	defer write.Close()
	var out bytes.Buffer
	o := options{rooms: 4, concurrent: 2, turn: time.Second, in: read, out: &out}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := effect.Run(ctx, program(o)); err == nil {
		t.Error("it ended by itself")
	}
	if !strings.Contains(out.String(), "turns: ") {
		t.Errorf("got %q", out.String())
	}
}
