package goroutine

import (
	"iter"
	"sync"
	"testing"
)

// Goroutines that live at the same time have different numbers, by either way of
// telling them apart, and each keeps its own while its stack grows and moves.
func TestSelf(t *testing.T) {
	for name, of := range map[string]func() uintptr{"self": self, "number": number} {
		t.Run(name, func(t *testing.T) {
			const n = 100
			var mu sync.Mutex
			seen := map[uintptr]bool{of(): true}
			var all, registered sync.WaitGroup
			registered.Add(n)
			for range n {
				all.Go(func() {
					mine := of()
					mu.Lock()
					if mine == 0 || seen[mine] {
						t.Errorf("number %d is taken", mine)
					}
					seen[mine] = true
					mu.Unlock()
					registered.Done()
					registered.Wait()
					if again := deep(1000, of); again != mine {
						t.Errorf("was %d and is %d", mine, again)
					}
				})
			}
			all.Wait()
		})
	}
}

//go:noinline
func deep(n int, of func() uintptr) uintptr {
	var room [256]byte
	if n == 0 {
		return of()
	}
	room[n%256] = byte(n)
	return deep(n-1, of) + uintptr(room[(n+1)%256])
}

// A coroutine is a goroutine of its own, whoever resumes it.
func TestSelfOfACoroutine(t *testing.T) {
	next, stop := iter.Pull(func(yield func(uintptr) bool) {
		for yield(Self()) {
		}
	})
	defer stop()
	first, _ := next()
	if first == Self() {
		t.Error("the coroutine has the number of who resumes it")
	}
	done := make(chan uintptr)
	go func() {
		v, _ := next()
		done <- v
	}()
	if again := <-done; again != first {
		t.Errorf("was %d and is %d when another resumes it", first, again)
	}
}

func BenchmarkSelf(b *testing.B) {
	for b.Loop() {
		_ = Self()
	}
}

func BenchmarkNumber(b *testing.B) {
	for b.Loop() {
		_ = number()
	}
}
