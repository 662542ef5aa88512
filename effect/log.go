package effect

import (
	"log/slog"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/rivus/tether/scope"
)

// Logger is where log effects write; nil, its default, is slog.Default at the
// time of writing. The handler gets the fiber's context.Context, whose values
// are those that Run was given.
var Logger = NewReference("Logger", func() *slog.Logger { return nil })

// MinimumLogLevel is the level below which log effects write nothing, whatever
// the handler would take. By default the handler decides alone.
var MinimumLogLevel = NewReference("MinimumLogLevel", func() slog.Level { return math.MinInt })

// The levels that slog has no name for.
const (
	LevelTrace = slog.LevelDebug - 4
	LevelFatal = slog.LevelError + 4
)

// Log writes a message at level info. args are as slog's: pairs of a key and a
// value, or slog.Attr. A *scope.Cause needs no key and becomes "cause", with the
// "stack" of its first defect beside it.
//
// The record has the runtime clock's time, the caller's place in the source,
// the number of the fiber as "fiber", then log spans, args and annotations.
func Log(msg string, args ...any) Effect[Unit] { return logAt(slog.LevelInfo, msg, args) }

// LogTrace is Log at LevelTrace.
func LogTrace(msg string, args ...any) Effect[Unit] { return logAt(LevelTrace, msg, args) }

// LogDebug is Log at level debug.
func LogDebug(msg string, args ...any) Effect[Unit] { return logAt(slog.LevelDebug, msg, args) }

// LogInfo is Log.
func LogInfo(msg string, args ...any) Effect[Unit] { return logAt(slog.LevelInfo, msg, args) }

// LogWarning is Log at level warn.
func LogWarning(msg string, args ...any) Effect[Unit] { return logAt(slog.LevelWarn, msg, args) }

// LogError is Log at level error.
func LogError(msg string, args ...any) Effect[Unit] { return logAt(slog.LevelError, msg, args) }

// LogFatal is Log at LevelFatal. It ends nothing.
func LogFatal(msg string, args ...any) Effect[Unit] { return logAt(LevelFatal, msg, args) }

// LogWithLevel is Log at a level.
func LogWithLevel(level slog.Level, msg string, args ...any) Effect[Unit] {
	return logAt(level, msg, args)
}

func logAt(level slog.Level, msg string, args []any) Effect[Unit] {
	var pc [1]uintptr
	runtime.Callers(3, pc[:]) // past Callers, logAt and its caller
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		writeLog(f, level, msg, pc[0], args)
		return Unit{}, nil, Effect[Unit]{}
	}}
}

func writeLog(f *scope.Fiber, level slog.Level, msg string, pc uintptr, args []any) {
	env := f.Env()
	if level < MinimumLogLevel.Value(env) {
		return
	}
	logger := Logger.Value(env)
	if logger == nil {
		logger = slog.Default()
	}
	ctx, handler := env.Context(), logger.Handler()
	if !handler.Enabled(ctx, level) {
		return
	}
	r := slog.NewRecord(f.Clock().Now(), level, msg, pc)
	r.AddAttrs(slog.Uint64("fiber", uint64(f.ID())))
	now := f.Clock().Monotonic()
	for _, span := range logSpans.Value(env) {
		r.AddAttrs(slog.Duration(span.label, now-span.start))
	}
	r.AddAttrs(logAttrs(args)...)
	r.AddAttrs(LogAnnotations.Value(env)...)
	// As with slog itself, a record that cannot be written is lost.
	_ = handler.Handle(ctx, r)
}

// logAttrs reads slog's arguments, and causes among them.
func logAttrs(args []any) []slog.Attr {
	attrs := make([]slog.Attr, 0, len(args))
	for len(args) > 0 {
		switch arg := args[0].(type) {
		case *scope.Cause:
			attrs = append(attrs, causeAttrs(arg)...)
		case slog.Attr:
			attrs = append(attrs, arg)
		case string:
			if len(args) > 1 {
				attrs = append(attrs, slog.Any(arg, args[1]))
				args = args[1:]
				break
			}
			attrs = append(attrs, slog.String(badKey, arg))
		default:
			attrs = append(attrs, slog.Any(badKey, arg))
		}
		args = args[1:]
	}
	return attrs
}

// badKey is what slog calls an argument without a key.
const badKey = "!BADKEY"

func causeAttrs(c *scope.Cause) []slog.Attr {
	attrs := []slog.Attr{slog.Any("cause", c)}
	if die, ok := c.Defect(); ok && die.Panic != nil {
		attrs = append(attrs, slog.String("at", die.At()), slog.String("stack", string(die.Stack())))
	}
	return attrs
}

// LogAnnotations are attributes of every record (TypeScript:
// CurrentLogAnnotations). A slice in use must not be changed.
var LogAnnotations = NewReference("LogAnnotations", func() []slog.Attr { return nil })

// AnnotateLogs adds attributes, given as to Log, to every record that e writes.
// A key that is there already gets the new value.
func (e Effect[A]) AnnotateLogs[_ onUse](args ...any) Effect[A] {
	return withEnv(e, annotated(args))
}

// annotated, spanned and seeded are not inlined, and so the types that they
// handle are not compiled again with each Effect type of a program.
//
//go:noinline
func annotated(args []any) func(*scope.Fiber, *scope.Env) *scope.Env {
	more := logAttrs(args)
	return func(_ *scope.Fiber, env *scope.Env) *scope.Env {
		return LogAnnotations.In(env, annotate(LogAnnotations.Value(env), more))
	}
}

func annotate(to, more []slog.Attr) []slog.Attr {
	out := slices.Grow(slices.Clone(to), len(more))
	for _, attr := range more {
		if i := annotation(out, attr.Key); i >= 0 {
			out[i] = attr
		} else {
			out = append(out, attr)
		}
	}
	return out
}

func annotation(attrs []slog.Attr, key string) int {
	return slices.IndexFunc(attrs, func(a slog.Attr) bool { return a.Key == key })
}

// AnnotateLogsScoped adds attributes to every record that this fiber writes from
// here on, and the fibers that it forks, until the scope at hand closes or the
// services at hand are put back (at the end of a ProvideService around it, say).
// Without a scope at hand it is a defect.
func AnnotateLogsScoped(args ...any) Effect[Unit] {
	more := logAttrs(args)
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		s, c := scopeAtHand(f)
		if c != nil {
			return Unit{}, c, Effect[Unit]{}
		}
		before := LogAnnotations.Value(f.Env())
		f.SetEnv(LogAnnotations.In(f.Env(), annotate(before, more)))
		return Unit{}, s.Add(f, func(closer *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
			// The services of a fiber are its own: one that another closes the
			// scope of keeps its annotations.
			if closer != f {
				return nil
			}
			now := LogAnnotations.Value(f.Env())
			// Mostly the services have been put back already, and an entry more for
			// each use would stay.
			if restored := unannotate(now, before, more); !slices.EqualFunc(restored, now, slog.Attr.Equal) {
				f.SetEnv(LogAnnotations.In(f.Env(), restored))
			}
			return nil
		}), Effect[Unit]{}
	}}
}

// unannotate puts those of more that are still there back to what they were.
func unannotate(now, before, more []slog.Attr) []slog.Attr {
	out := slices.Clone(now)
	for _, attr := range more {
		i := annotation(out, attr.Key)
		if i < 0 || !out[i].Equal(attr) {
			continue
		}
		if j := annotation(before, attr.Key); j >= 0 {
			out[i] = before[j]
		} else {
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

type logSpan struct {
	label string
	start time.Duration
}

// logSpans, newest first.
var logSpans = NewReference("LogSpans", func() []logSpan { return nil })

// WithLogSpan adds an attribute to every record that e writes: how long e has
// been running, by the monotonic clock.
func (e Effect[A]) WithLogSpan[_ onUse](label string) Effect[A] { return withEnv(e, spanned(label)) }

//go:noinline
func spanned(label string) func(*scope.Fiber, *scope.Env) *scope.Env {
	return func(f *scope.Fiber, env *scope.Env) *scope.Env {
		span := logSpan{label, f.Clock().Monotonic()}
		return logSpans.In(env, append([]logSpan{span}, logSpans.Value(env)...))
	}
}
