package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// setLogs has what the library logs written as everything else on stderr is: with
// --json as a line of it.
func setLogs(o *output) {
	slog.SetDefault(slog.New(logs{o, nil}))
}

// logs is a slog.Handler.
type logs struct {
	output *output
	attrs  []slog.Attr
}

// Enabled implements slog.Handler: what is below a warning is for programmers.
func (l logs) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (l logs) Handle(_ context.Context, r slog.Record) error {
	attrs := l.attrs
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs[:len(attrs):len(attrs)], a)
		return true
	})
	if l.output.json {
		fields := map[string]string{}
		for _, a := range attrs {
			fields[a.Key] = a.Value.String()
		}
		l.output.line(map[string]any{"event": "log", "level": strings.ToLower(r.Level.String()), "message": r.Message, "fields": fields})
		return nil
	}
	text := "tether: " + plain(r.Message)
	for _, a := range attrs {
		if a.Key != "fiber" {
			text += fmt.Sprintf("; %s: %s", a.Key, plain(a.Value.String()))
		}
	}
	_, err := fmt.Fprintln(l.output.err, text)
	return err
}

// WithAttrs implements slog.Handler.
func (l logs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logs{l.output, append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)}
}

// WithGroup implements slog.Handler. What is in a group keeps its own name.
func (l logs) WithGroup(string) slog.Handler { return l }
