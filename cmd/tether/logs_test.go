package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/rivus/tether/effect"
)

// What the library logs is a line of JSON with --json, as all else.
func TestF78_LogsAreJSON(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var said bytes.Buffer
	log := func(asJSON bool) string {
		said.Reset()
		setLogs(&output{err: &said, json: asJSON})
		_, _ = effect.Run(context.Background(), effect.LogWarning("it\x1b[2J failed", "path", "a\nb", "error", errors.New("why")))
		return said.String()
	}
	var line struct {
		Event, Level, Message string
		Fields                map[string]string
	}
	if err := json.Unmarshal([]byte(log(true)), &line); err != nil || line.Event != "log" || line.Level != "warn" || line.Fields["path"] != "a\nb" || line.Fields["error"] != "why" {
		t.Errorf("%v, %q", err, said.String())
	}
	if got := log(false); got != `tether: "it\x1b[2J failed"; path: "a\nb"; error: why`+"\n" {
		t.Errorf("%q", got)
	}
}
