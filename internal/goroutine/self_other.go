//go:build !gc || !(amd64 || arm64)

package goroutine

func self() uintptr { return number() }
