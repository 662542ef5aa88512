package scope

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

type tagged struct {
	Code  int
	Texts []string
	Cause error
}

func (*tagged) Error() string { return "tagged" }

type session struct {
	mu sync.Mutex
	m  map[int]int
}

type ofSession struct{ s *session }

func (ofSession) Error() string { return "of a session" }

type withMutex struct {
	sync.Mutex
	n int
}

func (*withMutex) Error() string { return "with a mutex" }

type withFunc struct{ f func() }

func (withFunc) Error() string { return "with a function" }

type node struct{ next *node }

func (*node) Error() string { return "node" }

func TestSameValue(t *testing.T) {
	one, two := &session{m: map[int]int{1: 1}}, &session{m: map[int]int{1: 1}}
	ring := &node{}
	ring.next = ring
	boxed := any(withFunc{func() {}})
	inner := func() error { return &tagged{Code: 1, Texts: []string{"a"}} }
	for name, c := range map[string]struct {
		a, b any
		same bool
	}{
		"nil":                       {nil, nil, true},
		"nil and not":               {nil, 1, false},
		"numbers":                   {1, 1, true},
		"types":                     {1, int64(1), false},
		"structs behind pointers":   {inner(), inner(), true},
		"other fields":              {&tagged{Code: 1}, &tagged{Code: 2}, false},
		"other texts":               {&tagged{Texts: []string{"a"}}, &tagged{Texts: []string{"b"}}, false},
		"errors in errors":          {&tagged{Cause: inner()}, &tagged{Cause: inner()}, true},
		"others in errors":          {&tagged{Cause: inner()}, &tagged{Cause: errors.New("x")}, false},
		"the standard library's":    {fmt.Errorf("x: %w", inner()), fmt.Errorf("x: %w", inner()), true},
		"what errors point to":      {ofSession{one}, ofSession{two}, false},
		"the same, pointed to":      {ofSession{one}, ofSession{one}, true},
		"mutexes":                   {&withMutex{n: 1}, &withMutex{n: 1}, false},
		"functions, the same value": {boxed, boxed, true},
		"functions":                 {withFunc{func() {}}, withFunc{func() {}}, false},
		"maps":                      {map[int]int{}, map[int]int{}, false},
		"a ring":                    {ring, &node{next: ring}, true},
		"nil pointers":              {(*tagged)(nil), (*tagged)(nil), true},
		"nil pointer and not":       {(*tagged)(nil), &tagged{}, false},
	} {
		if got := sameValue(c.a, c.b); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Errors that point to what others change, under a lock of its own, can be combined.
func TestSameValueReadsNothingThatLives(t *testing.T) {
	a, b := &session{m: map[int]int{}}, &session{m: map[int]int{}}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, s := range []*session{a, b} {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				s.mu.Lock()
				s.m[i%8] = i
				s.mu.Unlock()
			}
		})
	}
	for range 1_000 {
		c := CombineFinalizer(CauseFail(ofSession{a}), CauseFail(ofSession{b}))
		if len(c.Reasons()) != 2 {
			t.Fatalf("combined to %v", c)
		}
	}
	close(stop)
	all.Wait()
}
