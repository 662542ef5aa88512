package effect

import (
	"strings"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Reduce folds the items from the left, one after the other. zero is called for
// each run, so that runs do not share what it makes.
func Reduce[T, Z any](items []T, zero func() Z, fn func(z Z, item T, i int) Effect[Z]) Effect[Z] {
	return Effect[Z]{step: func(f *scope.Fiber) (Z, *scope.Cause, Effect[Z]) {
		z := zero()
		for i, item := range items {
			next, c := run(f, fn(z, item, i))
			if c != nil {
				return next, c, Effect[Z]{}
			}
			z = next
		}
		return z, nil, Effect[Z]{}
	}}
}

// Partitioned is what Partition gives. Both lists are in the items' order.
type Partitioned[A any] struct {
	// Passes are the results, Fails the failures.
	Passes []A
	Fails  []error
}

// Partition runs fn's effect for every item, whatever the others do, and gives
// results and failures apart. A defect or an interruption ends it.
func Partition[T, A any](items []T, fn func(item T, i int) Effect[A], at Concurrency) Effect[Partitioned[A]] {
	return ForEach(items, func(item T, i int) Effect[mo.Result[A]] { return Result(fn(item, i)) }, at).
		Map(func(results []mo.Result[A]) Partitioned[A] {
			out := Partitioned[A]{Passes: []A{}, Fails: []error{}}
			for _, r := range results {
				if v, err := r.Get(); err != nil {
					out.Fails = append(out.Fails, err)
				} else {
					out.Passes = append(out.Passes, v)
				}
			}
			return out
		})
}

// Validate runs fn's effect for every item and gives all results. When any
// failed it fails with *Invalid, which has all the failures.
func Validate[T, A any](items []T, fn func(item T, i int) Effect[A], at Concurrency) Effect[[]A] {
	return Partition(items, fn, at).FlatMap(func(p Partitioned[A]) Effect[[]A] {
		if len(p.Fails) > 0 {
			return Fail[[]A](&Invalid{p.Fails})
		}
		return Succeed(p.Passes)
	})
}

// ValidateDiscard is Validate without the results (TypeScript: discard: true).
func ValidateDiscard[T, A any](items []T, fn func(item T, i int) Effect[A], at Concurrency) Effect[Unit] {
	return Partition(items, fn, at).FlatMap(func(p Partitioned[A]) Effect[Unit] {
		if len(p.Fails) > 0 {
			return Fail[Unit](&Invalid{p.Fails})
		}
		return Void()
	})
}

// Invalid is the failure of Validate: all failures, in the items' order
// (TypeScript: an array of errors).
type Invalid struct{ Fails []error }

// Error has a line for each failure.
func (v *Invalid) Error() string {
	lines := make([]string, len(v.Fails))
	for i, err := range v.Fails {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Tag implements errors.Tagged.
func (*Invalid) Tag() string { return "Invalid" }

// Unwrap lets errors.Is, errors.As and CatchTag find a failure in it.
func (v *Invalid) Unwrap() []error { return v.Fails }

// FindFirst gives the first item for which want's effect gives true, or none.
// Later items are not asked.
func FindFirst[T any](items []T, want func(item T, i int) Effect[bool]) Effect[mo.Option[T]] {
	return Effect[mo.Option[T]]{step: func(f *scope.Fiber) (mo.Option[T], *scope.Cause, Effect[mo.Option[T]]) {
		for i, item := range items {
			found, c := run(f, want(item, i))
			if c != nil {
				return mo.None[T](), c, Effect[mo.Option[T]]{}
			}
			if found {
				return mo.Some(item), nil, Effect[mo.Option[T]]{}
			}
		}
		return mo.None[T](), nil, Effect[mo.Option[T]]{}
	}}
}

// FindFirstFilter gives the first value that pick's effect gives for an item, or
// none. Later items are not asked.
func FindFirstFilter[T, B any](items []T, pick func(item T, i int) Effect[mo.Option[B]]) Effect[mo.Option[B]] {
	return Effect[mo.Option[B]]{step: func(f *scope.Fiber) (mo.Option[B], *scope.Cause, Effect[mo.Option[B]]) {
		for i, item := range items {
			found, c := run(f, pick(item, i))
			if c != nil {
				return mo.None[B](), c, Effect[mo.Option[B]]{}
			}
			if found.IsPresent() {
				return found, nil, Effect[mo.Option[B]]{}
			}
		}
		return mo.None[B](), nil, Effect[mo.Option[B]]{}
	}}
}

// Head gives the first element, and fails with *NoSuchElement when there is
// none.
func Head[A any](e Effect[[]A]) Effect[A] {
	return e.FlatMap(func(all []A) Effect[A] {
		if len(all) == 0 {
			return Fail[A](&NoSuchElement{})
		}
		return Succeed(all[0])
	})
}

// Replicate is n times e, to be given to All. A negative n is none.
func Replicate[A any](e Effect[A], n int) []Effect[A] {
	out := make([]Effect[A], max(n, 0))
	for i := range out {
		out[i] = e
	}
	return out
}

// ReplicateEffect runs e n times and gives the results in order.
func ReplicateEffect[A any](e Effect[A], n int, at Concurrency) Effect[[]A] {
	return All(Replicate(e, n), at)
}

// ReplicateEffectDiscard is ReplicateEffect without the results (TypeScript:
// discard: true).
func ReplicateEffectDiscard[A any](e Effect[A], n int, at Concurrency) Effect[Unit] {
	return AllDiscard(Replicate(e, n), at)
}
