package scope

import (
	"reflect"
	"strings"
	"unsafe"
)

// sameValue compares errors and defects by structure, as TypeScript's Equal does,
// without calling any method of theirs. It reads no more than what an error holds
// itself: what that points to, and maps, may be changing under a lock of its own.
func sameValue(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	// The same box: of values that cannot be compared, such as functions, too.
	if word(a) == word(b) {
		return true
	}
	return sameStructure(reflect.ValueOf(a), reflect.ValueOf(b), 0)
}

// word is an interface's second word, which is the value or points to it.
func word(a any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&a))[1] }

// maxStructure is how deep errors in errors are compared.
const maxStructure = 32

// sameStructure is entered with a value that an interface holds.
func sameStructure(a, b reflect.Value, depth int) bool {
	if depth > maxStructure || a.Type() != b.Type() {
		return false
	}
	if a.Kind() != reflect.Pointer {
		return sameContent(a, b, depth)
	}
	switch {
	case a.Pointer() == b.Pointer():
		return true
	case a.IsNil() || b.IsNil() || live(a.Type().Elem()):
		return false
	}
	return sameContent(a.Elem(), b.Elem(), depth)
}

func sameContent(a, b reflect.Value, depth int) bool {
	switch a.Kind() {
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return sameStructure(a.Elem(), b.Elem(), depth+1)
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameContent(a.Field(i), b.Field(i), depth) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
			return false
		}
		fallthrough
	case reflect.Array:
		for i := range a.Len() {
			if !sameContent(a.Index(i), b.Index(i), depth) {
				return false
			}
		}
		return true
	case reflect.Func, reflect.Map:
		return a.IsNil() && b.IsNil()
	default: // numbers, texts; pointers and channels by identity
		return a.Equal(b)
	}
}

// live tells whether a type holds what changes while others look: then two values of
// it are the same only when they are one.
func live(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		if t.PkgPath() == "sync" || strings.HasPrefix(t.PkgPath(), "sync/") {
			return true
		}
		for i := range t.NumField() {
			if live(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return live(t.Elem())
	default:
		return t.Kind() == reflect.Map || t.Kind() == reflect.Chan
	}
}
