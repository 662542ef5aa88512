package goroutine

import "runtime"

// number is what a stack trace calls the goroutine: "goroutine 17 [running]:".
func number() uintptr {
	var buf [32]byte
	n := uintptr(0)
	for _, c := range buf[len("goroutine "):runtime.Stack(buf[:], false)] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uintptr(c-'0')
	}
	return n
}
