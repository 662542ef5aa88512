package effect

import "github.com/rivus/tether/scope"

// Map applies fn to the result.
//
//go:noinline
func (e Effect[A]) Map[B any](fn func(A) B) Effect[B] {
	return Effect[B]{step: func(f *scope.Fiber) (B, *scope.Cause, Effect[B]) {
		v, c := run(f, e)
		if c != nil {
			return failed[B](c)
		}
		return fn(v), nil, Effect[B]{}
	}}
}

// FlatMap runs what fn makes of the result, in its place: a chain that nests to
// the right runs in constant stack.
//
//go:noinline
func (e Effect[A]) FlatMap[B any](fn func(A) Effect[B]) Effect[B] {
	return Effect[B]{step: func(f *scope.Fiber) (B, *scope.Cause, Effect[B]) {
		v, c := run(f, e)
		if c != nil {
			return failed[B](c)
		}
		return then(fn(v))
	}}
}

// AndThen runs next after e and gives its result.
//
//go:noinline
func (e Effect[A]) AndThen[B any](next Effect[B]) Effect[B] {
	return Effect[B]{step: func(f *scope.Fiber) (B, *scope.Cause, Effect[B]) {
		if _, c := run(f, e); c != nil {
			return failed[B](c)
		}
		return then(next)
	}}
}

// Tap runs what fn makes of the result and gives e's own.
//
//go:noinline
func (e Effect[A]) Tap[B any](fn func(A) Effect[B]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, c := run(f, e)
		if c == nil {
			if _, c = run(f, fn(v)); c != nil {
				return failed[A](c)
			}
		}
		return v, c, Effect[A]{}
	}}
}

// As replaces the result.
//
//go:noinline
func (e Effect[A]) As[B any](v B) Effect[B] {
	return Effect[B]{step: func(f *scope.Fiber) (B, *scope.Cause, Effect[B]) {
		if _, c := run(f, e); c != nil {
			return failed[B](c)
		}
		return v, nil, Effect[B]{}
	}}
}

// after runs next after first; AndThen for operators that every type has.
//
//go:noinline
func after[A any](first Effect[Unit], next Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		if _, c := run(f, first); c != nil {
			return failed[A](c)
		}
		return then(next)
	}}
}

// AsUnit forgets the result (TypeScript: asVoid).
func (e Effect[A]) AsUnit[_ onUse]() Effect[Unit] { return e.As(Unit{}) }

// Zip runs two effects, one after the other.
//
//go:noinline
func Zip[A, B any](a Effect[A], b Effect[B]) Effect[Pair[A, B]] {
	return ZipWith(a, b, func(x A, y B) Pair[A, B] { return Pair[A, B]{x, y} })
}

// Pair is the result of Zip.
type Pair[A, B any] struct {
	First  A
	Second B
}

// ZipWith runs two effects, one after the other, and combines their results.
//
//go:noinline
func ZipWith[A, B, C any](a Effect[A], b Effect[B], fn func(A, B) C) Effect[C] {
	return Effect[C]{step: func(f *scope.Fiber) (C, *scope.Cause, Effect[C]) {
		x, c := run(f, a)
		if c != nil {
			return failed[C](c)
		}
		y, c := run(f, b)
		if c != nil {
			return failed[C](c)
		}
		return fn(x, y), nil, Effect[C]{}
	}}
}

// Forever runs e again and again, and lets other fibers run in between.
//
//go:noinline
func (e Effect[A]) Forever[_ onUse]() Effect[Nothing] {
	return Effect[Nothing]{step: func(f *scope.Fiber) (Nothing, *scope.Cause, Effect[Nothing]) {
		for {
			if _, c := run(f, e); c != nil {
				return failed[Nothing](c)
			}
			if _, c := run(f, YieldNow()); c != nil {
				return failed[Nothing](c)
			}
		}
	}}
}
