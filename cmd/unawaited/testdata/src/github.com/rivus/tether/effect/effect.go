// Package effect stands in for the real one.
package effect

type Unit struct{}

type Effect[A any] struct{ run func() A }

func Succeed[A any](v A) Effect[A] { return Effect[A]{func() A { return v }} }

func (e Effect[A]) Timeout() Effect[A] { return e }

type Do struct{}

func (do *Do) Await[A any](e Effect[A]) A { return e.run() }

func Run[A any](e Effect[A]) A { return e.run() }
