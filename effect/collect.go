package effect

import (
	"iter"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Concurrency is how many run at a time: 1 (or less) is one after the other,
// without fibers of their own.
type Concurrency int

// Unbounded sets no limit.
const Unbounded Concurrency = 1<<31 - 1

// One is the concurrency of plain sequences.
const One Concurrency = 1

// All runs the effects and gives their results in order. The first failure
// interrupts the others, and those that were not started do not run.
//
//go:noinline
func All[A any](effects []Effect[A], at Concurrency) Effect[[]A] {
	return ForEach(effects, func(e Effect[A], _ int) Effect[A] { return e }, at)
}

// AllDiscard is All without the results (TypeScript: discard: true).
//
//go:noinline
func AllDiscard[A any](effects []Effect[A], at Concurrency) Effect[Unit] {
	return ForEachDiscard(effects, func(e Effect[A], _ int) Effect[A] { return e }, at)
}

// AllResult is All that gives failures as values (TypeScript: mode: "result").
//
//go:noinline
func AllResult[A any](effects []Effect[A], at Concurrency) Effect[[]mo.Result[A]] {
	return ForEach(effects, func(e Effect[A], _ int) Effect[mo.Result[A]] { return Result(e) }, at)
}

// AllResultDiscard is AllResult without the results.
//
//go:noinline
func AllResultDiscard[A any](effects []Effect[A], at Concurrency) Effect[Unit] {
	return ForEachDiscard(effects, func(e Effect[A], _ int) Effect[mo.Result[A]] { return Result(e) }, at)
}

// ForEach runs fn's effect for each item, at most at of them side by side, and
// gives the results in the items' order. i is the item's index. The first failure
// interrupts the others, waits for their ends and is the result; items that were
// not begun are not.
//
//go:noinline
func ForEach[T, A any](items []T, fn func(item T, i int) Effect[A], at Concurrency) Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		out := results[A]{values: make([]A, len(items))}
		if c := forEach(f, items, fn, at, out.keep, out.move); c != nil {
			return nil, c, Effect[[]A]{}
		}
		return out.list(), nil, Effect[[]A]{}
	}}
}

// ForEachDiscard is ForEach without the results (TypeScript: discard: true).
//
//go:noinline
func ForEachDiscard[T, A any](items []T, fn func(item T, i int) Effect[A], at Concurrency) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, forEach(f, items, fn, at, func(int, A) {}, nil), Effect[Unit]{}
	}}
}

// ForEachSeq is ForEachDiscard, one after the other, over an iterator, which is
// read as the work goes on.
//
//go:noinline
func ForEachSeq[T, A any](items iter.Seq[T], fn func(item T, i int) Effect[A]) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		i := 0
		for item := range items {
			if _, c := run(f, fn(item, i)); c != nil {
				return Unit{}, c, Effect[Unit]{}
			}
			i++
		}
		return Unit{}, nil, Effect[Unit]{}
	}}
}

// results are the values of Each's starts and, where they differ from the order
// of the items, their places.
type results[A any] struct {
	values []A
	places map[int]int
}

func (r *results[A]) keep[_ onUse](start int, v A) {
	for len(r.values) <= start {
		var none A
		r.values = append(r.values, none)
	}
	r.values[start] = v
}

func (r *results[A]) move[_ onUse](start, at int) {
	if r.places == nil {
		r.places = map[int]int{}
	}
	r.places[start] = at
}

func (r *results[A]) list[_ onUse]() []A {
	if r.places == nil {
		return r.values
	}
	var out []A
	for start, v := range r.values {
		at, moved := r.places[start]
		if !moved {
			at = start
		}
		for len(out) <= at {
			var none A
			out = append(out, none)
		}
		out[at] = v
	}
	return out
}

func forEach[T, A any](f *scope.Fiber, items []T, fn func(T, int) Effect[A], at Concurrency, keep func(int, A), move func(start, at int)) *scope.Cause {
	if at <= 1 {
		for i, item := range items {
			v, c := run(f, fn(item, i))
			if c != nil {
				return c
			}
			keep(i, v)
		}
		return nil
	}
	starts := 0
	return f.Each(len(items), int(at), func(i int) scope.Item {
		start := starts
		starts++
		return itemOf(fn(items[i], i), start, keep)
	}, move)
}

// item is an item of ForEach with the fiber that it runs in.
type item[A any] struct {
	program Effect[A]
	keep    func(start int, v A)
	start   int
	part    scope.Part
}

// Run implements scope.Body.
func (it *item[A]) Run(f *scope.Fiber) *scope.Cause {
	v, c := run(f, it.program)
	if c == nil {
		it.keep(it.start, v)
	}
	return c
}

// ZipConcurrent runs two effects side by side.
//
//go:noinline
func ZipConcurrent[A, B any](a Effect[A], b Effect[B]) Effect[Pair[A, B]] {
	return Effect[Pair[A, B]]{step: func(f *scope.Fiber) (Pair[A, B], *scope.Cause, Effect[Pair[A, B]]) {
		var out Pair[A, B]
		c := f.Each(2, 2, func(i int) scope.Item {
			if i == 0 {
				return itemOf(a, 0, func(_ int, v A) { out.First = v })
			}
			return itemOf(b, 1, func(_ int, v B) { out.Second = v })
		}, nil)
		if c != nil {
			return Pair[A, B]{}, c, Effect[Pair[A, B]]{}
		}
		return out, nil, Effect[Pair[A, B]]{}
	}}
}

// itemOf is e as an item whose result keep takes.
func itemOf[A any](e Effect[A], start int, keep func(start int, v A)) scope.Item {
	if e.lit != nil {
		if e.lit.cause == nil {
			keep(start, e.lit.value)
		}
		return scope.Item{Known: true, Cause: e.lit.cause}
	}
	it := &item[A]{program: e, keep: keep, start: start}
	return scope.Item{Body: it, Part: &it.part}
}
