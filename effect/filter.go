package effect

import (
	"sync"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// FilterOrElse lets a result through that keep accepts, and goes on with orElse
// for any other.
func (e Effect[A]) FilterOrElse[_ onUse](keep func(A) bool, orElse func(A) Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, c := run(f, e)
		if c != nil {
			return failed[A](c)
		}
		if keep(v) {
			return then(Succeed(v))
		}
		return then(orElse(v))
	}}
}

// FilterOrFail lets a result through that keep accepts, and fails for any other:
// with orFail's error or, when orFail is nil, with *NoSuchElement.
func (e Effect[A]) FilterOrFail[_ onUse](keep func(A) bool, orFail func(A) error) Effect[A] {
	return e.FilterOrElse(keep, failWith[A, A](orFail))
}

// FilterMapOrElse gives what pick makes of the result, and goes on with orElse
// when pick answers false.
func (e Effect[A]) FilterMapOrElse[B any](pick func(A) (B, bool), orElse func(A) Effect[B]) Effect[B] {
	return e.FlatMap(func(v A) Effect[B] {
		if b, ok := pick(v); ok {
			return Succeed(b)
		}
		return orElse(v)
	})
}

// FilterMapOrFail gives what pick makes of the result, and fails when pick
// answers false: with orFail's error or, when orFail is nil, with
// *NoSuchElement.
func (e Effect[A]) FilterMapOrFail[B any](pick func(A) (B, bool), orFail func(A) error) Effect[B] {
	return e.FilterMapOrElse(pick, failWith[A, B](orFail))
}

func failWith[A, B any](with func(A) error) func(A) Effect[B] {
	return func(v A) Effect[B] {
		if with == nil {
			return Fail[B](&NoSuchElement{})
		}
		return Fail[B](with(v))
	}
}

// Filter gives the items for which keep's effect gives true, in their order.
func Filter[T any](items []T, keep func(item T, i int) Effect[bool], at Concurrency) Effect[[]T] {
	return ForEach(items, func(item T, i int) Effect[mo.Option[T]] {
		return keep(item, i).Map(func(yes bool) mo.Option[T] {
			if yes {
				return mo.Some(item)
			}
			return mo.None[T]()
		})
	}, at).Map(somes[T])
}

func somes[T any](options []mo.Option[T]) []T {
	out := []T{}
	for _, o := range options {
		if v, ok := o.Get(); ok {
			out = append(out, v)
		}
	}
	return out
}

// FilterMap gives what pick makes of the items, without those for which it
// answers false.
func FilterMap[T, B any](items []T, pick func(T) (B, bool)) Effect[[]B] {
	return Suspend(func() Effect[[]B] {
		out := []B{}
		for _, item := range items {
			if b, ok := pick(item); ok {
				out = append(out, b)
			}
		}
		return Succeed(out)
	})
}

// FilterMapEffect gives the values that pick's effects give for the items. As in
// TypeScript they are in the order in which those effects ended, which under
// concurrency is not that of the items.
func FilterMapEffect[T, B any](items []T, pick func(T) Effect[mo.Option[B]], at Concurrency) Effect[[]B] {
	return Suspend(func() Effect[[]B] {
		// Children of the parallel runtime end side by side.
		var mu sync.Mutex
		out := []B{}
		return ForEachDiscard(items, func(item T, _ int) Effect[Unit] {
			return pick(item).Map(func(o mo.Option[B]) Unit {
				if b, ok := o.Get(); ok {
					mu.Lock()
					defer mu.Unlock()
					out = append(out, b)
				}
				return Unit{}
			})
		}, at).FlatMap(func(Unit) Effect[[]B] { return Succeed(out) })
	})
}
