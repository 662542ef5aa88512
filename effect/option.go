package effect

import (
	"github.com/samber/mo"
)

// Option gives none when e fails with an expected failure.
func Option[A any](e Effect[A]) Effect[mo.Option[A]] {
	return e.Match(func(error) mo.Option[A] { return mo.None[A]() }, mo.Some[A])
}

// Result gives e's failure as a value.
func Result[A any](e Effect[A]) Effect[mo.Result[A]] {
	if e.lit == nil {
		return e.Match(mo.Err[A], mo.Ok[A])
	}
	if e.lit.cause == nil {
		return Succeed(mo.Ok(e.lit.value))
	}
	err, rest, ok := e.lit.cause.Recoverable()
	if !ok {
		return FailCause[mo.Result[A]](rest)
	}
	return Succeed(mo.Err[A](err))
}

// FromOption succeeds with the option's value or fails with *NoSuchElement.
func FromOption[A any](o mo.Option[A]) Effect[A] {
	if v, ok := o.Get(); ok {
		return Succeed(v)
	}
	return Fail[A](&NoSuchElement{})
}

// FromMo succeeds with the result's value or fails with its error (TypeScript:
// fromResult).
func FromMo[A any](r mo.Result[A]) Effect[A] { return FromResult(r.Get()) }

// NoSuchElement is the failure for what is not there: of FromOption, Head,
// RandomChoice, FilterOrFail and FilterMapOrFail.
type NoSuchElement struct{}

func (*NoSuchElement) Error() string { return "no such element" }

// Tag implements errors.Tagged.
func (*NoSuchElement) Tag() string { return "NoSuchElementError" }
