package effect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// logged runs e with a logger that writes text lines, and gives them.
func logged[A any](t *testing.T, e effect.Effect[A]) []string {
	t.Helper()
	var b bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: effect.LevelTrace}))
	out := effect.RunDeterministic(e.ProvideService(effect.Logger, logger), effect.DeterministicConfig{})
	if err := out.Exit.MustGet().Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d lines: %q", len(got), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d\n got  %s\n want %s", i+1, got[i], want[i])
		}
	}
}

func TestLog(t *testing.T) {
	cause := scope.CauseFromReasons(scope.Fail{Err: errors.New("no")}, scope.Interrupt{By: 3})
	wantLines(t, logged(t, effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.Log("plain"))
		do.Await(effect.LogTrace("t"))
		do.Await(effect.LogDebug("d", "a", 1))
		do.Await(effect.LogInfo("i", slog.Bool("b", true), "c", 2))
		do.Await(effect.LogWarning("w", cause))
		do.Await(effect.LogError("e", "key", "v", cause, "odd"))
		do.Await(effect.LogFatal("f", 7))
		do.Await(effect.Sleep(1500 * time.Millisecond))
		do.Await(effect.LogWithLevel(slog.LevelWarn+1, "l"))
		fiber := do.Await(effect.ForkChild(effect.Log("child")))
		do.Await(fiber.Join())
	})),
		`time=1970-01-01T00:00:00.000Z level=INFO msg=plain fiber=1`,
		`time=1970-01-01T00:00:00.000Z level=DEBUG-4 msg=t fiber=1`,
		`time=1970-01-01T00:00:00.000Z level=DEBUG msg=d fiber=1 a=1`,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=i fiber=1 b=true c=2`,
		`time=1970-01-01T00:00:00.000Z level=WARN msg=w fiber=1 cause="Cause(Fail(no), Interrupt(#3))"`,
		`time=1970-01-01T00:00:00.000Z level=ERROR msg=e fiber=1 key=v cause="Cause(Fail(no), Interrupt(#3))" !BADKEY=odd`,
		`time=1970-01-01T00:00:00.000Z level=ERROR+4 msg=f fiber=1 !BADKEY=7`,
		`time=1970-01-01T00:00:01.500Z level=WARN+1 msg=l fiber=1`,
		`time=1970-01-01T00:00:01.500Z level=INFO msg=child fiber=2`,
	)
}

func TestLogStackOfADefect(t *testing.T) {
	lines := logged(t, effect.SyncUnit(func() { panic("boom") }).CatchCause(func(c *scope.Cause) effect.Effect[effect.Unit] {
		return effect.LogError("died", c)
	}))
	if len(lines) != 1 || !strings.Contains(lines[0], "cause=Cause(Die(boom)) at=") || !strings.Contains(lines[0], "log_test.go") || !strings.Contains(lines[0], " stack=") {
		t.Errorf("got %q", lines)
	}
}

func TestAnnotateLogs(t *testing.T) {
	inner := effect.Log("in", "own", 1).AnnotateLogs("a", 2, "c", 3)
	lines := logged(t, inner.AndThen(effect.Log("out")).AnnotateLogs("a", 1, "b", 1).AndThen(effect.Log("after")))
	wantLines(t, lines,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=in fiber=1 own=1 a=2 b=1 c=3`,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=out fiber=1 a=1 b=1`,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=after fiber=1`)
}

func TestAnnotateLogsScoped(t *testing.T) {
	lines := logged(t, effect.GenUnit(func(do *effect.Do) {
		s := do.Await(effect.MakeScope(scope.Sequential))
		do.Await(effect.AnnotateLogsScoped("a", 2, "b", 1).ProvideScope(s).AnnotateLogs("a", 1))
		do.Await(effect.Log("put back"))
		do.Await(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			do.Await(effect.AnnotateLogsScoped("a", 2, "b", 1))
			do.Await(effect.Log("in"))
			fiber := do.Await(effect.ForkChild(effect.Log("child")))
			do.Await(fiber.Join())
			do.Await(effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] { return effect.Log("closing") }))
		})))
		do.Await(effect.Log("out"))
	}).AnnotateLogs("a", 1))
	wantLines(t, lines,
		`time=1970-01-01T00:00:00.000Z level=INFO msg="put back" fiber=1 a=1`,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=in fiber=1 a=2 b=1`,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=child fiber=2 a=2 b=1`,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=closing fiber=1 a=2 b=1`,
		`time=1970-01-01T00:00:00.000Z level=INFO msg=out fiber=1 a=1`)
}

func TestWithLogSpan(t *testing.T) {
	wait := effect.Sleep(20 * time.Millisecond)
	inner := wait.AndThen(effect.Log("inner")).WithLogSpan("load")
	wantLines(t, logged(t, wait.AndThen(inner).AndThen(effect.Log("outer")).WithLogSpan("request")),
		`time=1970-01-01T00:00:00.040Z level=INFO msg=inner fiber=1 load=20ms request=40ms`,
		`time=1970-01-01T00:00:00.040Z level=INFO msg=outer fiber=1 request=40ms`)
}

func TestMinimumLogLevel(t *testing.T) {
	both := effect.LogInfo("i").AndThen(effect.LogError("e"))
	wantLines(t, logged(t, both.ProvideService(effect.MinimumLogLevel, slog.LevelWarn)),
		`time=1970-01-01T00:00:00.000Z level=ERROR msg=e fiber=1`)
}

type contextKey struct{}

// contextHandler notes what slog hands to a handler.
type contextHandler struct {
	slog.Handler
	seen *any
}

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	*h.seen = ctx.Value(contextKey{})
	return h.Handler.Handle(ctx, r)
}

// A handler finds the values of the context that Run was given, and the record
// the place that made the log effect.
func TestLogContextAndSource(t *testing.T) {
	var b bytes.Buffer
	var seen any
	handler := contextHandler{slog.NewJSONHandler(&b, &slog.HandlerOptions{AddSource: true}), &seen}
	ctx := context.WithValue(t.Context(), contextKey{}, "trace 7")
	if _, err := effect.Run(ctx, effect.Log("x").ProvideService(effect.Logger, slog.New(handler))); err != nil {
		t.Fatal(err)
	}
	if seen != "trace 7" {
		t.Errorf("the handler saw %v", seen)
	}
	var record struct {
		Source struct{ Function string }
		Fiber  int
	}
	if err := json.Unmarshal(b.Bytes(), &record); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(record.Source.Function, "TestLogContextAndSource") || record.Fiber != 1 {
		t.Errorf("got %s", b.Bytes())
	}
}
