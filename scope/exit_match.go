package scope

// Match gives what one of two functions makes of the exit.
func (e Exit[A]) Match[B any](onFailure func(*Cause) B, onSuccess func(A) B) B {
	if e.cause != nil {
		return onFailure(e.cause)
	}
	return onSuccess(e.value)
}

// Map applies fn to the value.
func (e Exit[A]) Map[B any](fn func(A) B) Exit[B] {
	if e.cause != nil {
		return Exit[B]{cause: e.cause}
	}
	return Exit[B]{value: fn(e.value)}
}

// MapError replaces every expected failure.
func (e Exit[A]) MapError[_ onUse](fn func(error) error) Exit[A] {
	if e.cause != nil {
		return Exit[A]{cause: e.cause.MapErrors(fn)}
	}
	return e
}

// MapBoth replaces every expected failure and the value.
func (e Exit[A]) MapBoth[B any](onFailure func(error) error, onSuccess func(A) B) Exit[B] {
	return e.MapError(onFailure).Map(onSuccess)
}

// As replaces the value (TypeScript: asVoid, with effect.Unit{}).
func (e Exit[A]) As[B any](v B) Exit[B] { return e.Map(func(A) B { return v }) }
