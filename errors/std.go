package errors

import stderrors "errors"

// ErrUnsupported is the standard library's errors.ErrUnsupported.
var ErrUnsupported = stderrors.ErrUnsupported

// New is the standard library's errors.New.
func New(text string) error { return stderrors.New(text) }

// Is is the standard library's errors.Is.
func Is(err, target error) bool { return stderrors.Is(err, target) }

// As is the standard library's errors.As; it panics as that does when target is
// not a pointer to an error or interface type.
func As(err error, target any) bool { return stderrors.As(err, target) }

// AsType is the standard library's errors.AsType: the first error of type E in
// err's tree.
func AsType[E error](err error) (E, bool) { return stderrors.AsType[E](err) }

// Join is the standard library's errors.Join.
func Join(errs ...error) error { return stderrors.Join(errs...) }

// Unwrap is the standard library's errors.Unwrap.
func Unwrap(err error) error { return stderrors.Unwrap(err) }
