package effect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// The programs of the TestPorting tests were run on effect@4.1.0; want is what it
// logged, and then its exit: "=" a value, or "!" the reasons of the cause.

type (
	portA   struct{}
	portB   struct{}
	portLog struct{ lines []string }
)

func (portA) Error() string { return "A" }

func (portB) Error() string { return "B" }

func (l *portLog) add(v any) { l.lines = append(l.lines, fmt.Sprint(v)) }

func (l *portLog) note(v any) effect.Effect[effect.Unit] { return effect.SyncUnit(func() { l.add(v) }) }

func portText(v any) string {
	switch v := v.(type) {
	case effect.Unit:
		return "{}"
	case mo.Option[string]:
		return portOption(v)
	case mo.Option[int]:
		return portOption(v)
	case []mo.Option[string]:
		return fmt.Sprint(portMap(v, portOption))
	case *effect.NoSuchElement:
		return v.Tag()
	case *effect.Invalid:
		return fmt.Sprint(v.Fails)
	}
	return fmt.Sprint(v)
}

func portMap[T, U any](list []T, fn func(T) U) []U {
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = fn(v)
	}
	return out
}

func portOption[T any](o mo.Option[T]) string {
	if v, ok := o.Get(); ok {
		return "Some(" + portText(v) + ")"
	}
	return "None"
}

func portReasons(c *scope.Cause) string {
	var parts []string
	for _, r := range c.Reasons() {
		switch r := r.(type) {
		case scope.Fail:
			parts = append(parts, "Fail("+portText(r.Err)+")")
		case scope.Die:
			parts = append(parts, "Die("+portText(r.Defect)+")")
		case scope.Interrupt:
			parts = append(parts, "Interrupt")
		}
	}
	return strings.Join(parts, ",")
}

func portExit[A any](x scope.Exit[A]) string {
	return x.Match(func(c *scope.Cause) string { return "!" + portReasons(c) }, func(v A) string { return "=" + portText(v) })
}

func portExits[A any](list []scope.Exit[A]) string {
	return strings.Join(portMap(list, portExit[A]), " ")
}

// shown is e with its result as text.
func portShown[A any](e effect.Effect[A]) effect.Effect[string] {
	return e.Map(func(v A) string { return portText(v) })
}

// exited is how e ends, as text.
func portExited[A any](e effect.Effect[A]) effect.Effect[string] {
	return effect.Exit(e).Map(portExit[A])
}

func portJoined(effects ...effect.Effect[string]) effect.Effect[string] {
	return effect.All(effects, effect.One).Map(func(parts []string) string { return strings.Join(parts, " ") })
}

func portDefect[A any]() effect.Effect[A] {
	return effect.FailCause[A](scope.CauseDie("d").Combine(scope.CauseFail(portA{})))
}

// item logs when it starts and how it ends, and takes ms milliseconds.
func portItem[A any](l *portLog, name string, ms int, e effect.Effect[A]) effect.Effect[A] {
	return effect.Gen(func(do *effect.Do) A {
		do.Await(l.note("+" + name))
		if ms > 0 {
			do.Await(effect.Sleep(time.Duration(ms) * time.Millisecond))
		}
		return do.Await(e)
	}).OnExit(func(x scope.Exit[A]) effect.Effect[effect.Unit] { return l.note("-" + name + portExit(x)) })
}

func portNamed(l *portLog, name string, ms int) effect.Effect[string] {
	return portItem(l, name, ms, effect.Succeed(name))
}

type portingCase struct {
	name, want string
	program    func(l *portLog) effect.Effect[string]
}

func runPortingCases(t *testing.T, cases []portingCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := &portLog{}
			out := effect.RunDeterministic(effect.Suspend(func() effect.Effect[string] { return c.program(l) }), effect.DeterministicConfig{})
			exit, ended := out.Exit.Get()
			if !ended {
				t.Fatalf("never ended: %v", out.Report)
			}
			l.add(portExit(exit))
			if got := strings.Join(l.lines, "; "); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func portInterrupted[A any](d time.Duration, e effect.Effect[A]) effect.Effect[string] {
	return effect.Gen(func(do *effect.Do) string {
		fb := do.Await(effect.ForkChild(e))
		do.Await(effect.Sleep(d))
		do.Await(fb.Interrupt())
		return portExit(do.Await(fb.Await()))
	})
}
