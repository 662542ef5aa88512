package effect

import (
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Do awaits effects inside Gen. It belongs to one call of the function that Gen
// was given, on its goroutine, and to no effect inside it. Using it in another
// effect or after the function has returned is a defect. That another goroutine
// uses it cannot be told at run time, and breaks the program: the vet tool in
// cmd/unawaited finds go statements that do.
type Do struct {
	f     *scope.Fiber
	depth int
	// cause, once set, is what the function ends with. A Do that has one panics
	// on every use: user code that recovered the first panic does not get away.
	cause *scope.Cause
}

var errMisusedDo = errors.New("effect: a Do was used outside the function it was made for; use the Do of the innermost Gen, and not after the function returned")

// unwind is what a Do panics with.
type unwind struct{ do *Do }

// Gen runs direct-style code (TypeScript: Effect.gen). Inside, do.Await runs an
// effect and gives its result; when it fails, or the fiber is interrupted, the
// function is left like by a panic: its defers run, and recovering it does not
// undo the failure.
//
// A is what body returns. A body that returns nothing is for [GenUnit]: of Gen the
// compiler then says "cannot infer A". A Go function's (value, error) goes through
// do.Try, its error alone through do.Check.
//
//go:noinline
func Gen[A any](body func(do *Do) A) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, c := gen(f, body)
		return v, c, Effect[A]{}
	}}
}

// GenUnit is Gen for a function without a result.
//
//go:noinline
func GenUnit(body func(do *Do)) Effect[Unit] {
	return Gen(func(do *Do) Unit {
		body(do)
		return Unit{}
	})
}

func gen[A any](f *scope.Fiber, body func(*Do) A) (v A, c *scope.Cause) {
	do := &Do{f: f, depth: f.Depth()}
	mark := f.Mark()
	defer func() {
		do.f = nil
		r := recover()
		if r == nil && do.cause == nil {
			return
		}
		var zero A
		v = zero
		if r != nil {
			f.Reset(mark)
			if u, ok := scope.Recovered(r).(unwind); !ok || u.do != do {
				// A defer of the function panicked while it was left, or the
				// function itself did.
				c = scope.CombineFinalizer(do.cause, f.Raised(r))
				return
			}
		}
		c = do.cause
	}()
	return body(do), nil
}

// Await runs e and gives its result. A panic in e is a failure like another, which
// recovering does not undo. It does not allocate.
func (do *Do) Await[A any](e Effect[A]) A {
	f := do.f
	if f == nil || do.cause != nil || f.Depth() != do.depth {
		do.refuse()
	}
	if e.lit != nil && e.lit.cause == nil && !f.Signaled() {
		return e.lit.value
	}
	v, c := guarded(f, e)
	if c != nil {
		do.cause = c
		panic(unwind{do})
	}
	return v
}

func (do *Do) refuse() {
	if do.f != nil && do.cause != nil {
		panic(unwind{do})
	}
	panic(errMisusedDo)
}

// Fail leaves the function with a failure.
func (do *Do) Fail(err error) { do.Await(Fail[Unit](err)) }

// FailCause leaves the function with a cause.
func (do *Do) FailCause(c *scope.Cause) { do.Await(FailCause[Unit](c)) }

// Try gives v, or leaves the function with err when that is not nil, as in
// do.Try(os.ReadFile(path)).
func (do *Do) Try[A any](v A, err error) A {
	if err != nil {
		do.Fail(err)
	}
	return v
}

// Check leaves the function with err when that is not nil.
func (do *Do) Check(err error) {
	if err != nil {
		do.Fail(err)
	}
}
