package effect

import (
	"github.com/rivus/tether/errors"
	"github.com/samber/mo"
)

// When runs e if the condition's effect gives true, and gives none otherwise.
func When[A any](e Effect[A], condition Effect[bool]) Effect[mo.Option[A]] {
	return condition.FlatMap(func(yes bool) Effect[mo.Option[A]] {
		if yes {
			return AsSome(e)
		}
		return SucceedNone[A]()
	})
}

// AsSome gives e's result as an option.
func AsSome[A any](e Effect[A]) Effect[mo.Option[A]] { return e.Map(mo.Some[A]) }

// SucceedSome is the effect that succeeds with an option that has v.
func SucceedSome[A any](v A) Effect[mo.Option[A]] { return Succeed(mo.Some(v)) }

// SucceedNone is the effect that succeeds with an option that has nothing.
func SucceedNone[A any]() Effect[mo.Option[A]] { return Succeed(mo.None[A]()) }

// TransposeOption runs the option's effect, or gives none.
func TransposeOption[A any](o mo.Option[Effect[A]]) Effect[mo.Option[A]] {
	if e, ok := o.Get(); ok {
		return AsSome(e)
	}
	return SucceedNone[A]()
}

// CatchNoSuchElement gives none when e fails with *NoSuchElement, a wrapped one
// included; other failures pass.
func CatchNoSuchElement[A any](e Effect[A]) Effect[mo.Option[A]] {
	return e.MatchEffect(func(err error) Effect[mo.Option[A]] {
		if _, ok := errors.AsType[*NoSuchElement](err); ok {
			return SucceedNone[A]()
		}
		return Fail[mo.Option[A]](err)
	}, SucceedSome[A])
}

// IsSuccess tells whether e succeeds. A defect or an interruption passes.
func IsSuccess[A any](e Effect[A]) Effect[bool] {
	return e.Match(func(error) bool { return false }, func(A) bool { return true })
}

// IsFailure tells whether e fails with an expected failure. A defect or an
// interruption passes.
func IsFailure[A any](e Effect[A]) Effect[bool] {
	return e.Match(func(error) bool { return true }, func(A) bool { return false })
}

// Flatten runs the effect that e gives.
func Flatten[A any](e Effect[Effect[A]]) Effect[A] {
	return e.FlatMap(func(inner Effect[A]) Effect[A] { return inner })
}
