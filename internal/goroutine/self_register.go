//go:build gc && (amd64 || arm64)

package goroutine

// self is the address of the runtime's record of the goroutine, which does not move.
func self() uintptr
