package scope

import (
	"runtime"
)

// Enter counts one more nested evaluation and tells whether it must begin a new
// stack segment (Segment). Leave undoes it.
func (f *Fiber) Enter() (deep bool) {
	f.depth++
	return f.depth >= f.segment
}

// Leave undoes Enter.
func (f *Fiber) Leave() { f.depth-- }

// Depth is the number of nested evaluations.
func (f *Fiber) Depth() int { return int(f.depth) }

// Mark is the fiber's place on its stack, for Reset.
type Mark struct{ depth, segment int32 }

// Mark is taken before an evaluation that may panic.
func (f *Fiber) Mark() Mark { return Mark{f.depth, f.segment} }

// Reset goes back to m after a recovered panic.
func (f *Fiber) Reset(m Mark) { f.depth, f.segment = m.depth, m.segment }

// Unwound makes f ready for what still has to run while a Goexit unwinds it: it is
// back at m, waits for nothing, and is masked, as finalizers are.
func (f *Fiber) Unwound(m Mark) {
	f.disarm()
	f.Reset(m)
	f.MaskAfter(nil)
}

// Abandoned tells that the runtime tears the fiber down: no finalizer of it may
// run any more.
func (f *Fiber) Abandoned() bool { return f.rt.abandoning() }

// Segment runs fn, which evaluates for f, on a goroutine of its own, and waits
// for it. One goroutine's stack is fatal for the process beyond a gigabyte;
// segments keep each one small, and maxDepth bounds their sum. A panic and a
// Goexit go on in the caller. The cause means that f is too deep, and that fn
// did not run.
func (f *Fiber) Segment(fn func()) *Cause {
	if f.depth >= maxDepth {
		f.depth--
		return CauseDie(TooDeep{Limit: maxDepth})
	}
	before := f.segment
	f.segment = f.depth + segmentDepth
	var raised *carried
	returned := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.rt.moved()
		func() {
			defer func() {
				if r := recover(); r != nil {
					if c, ok := r.(carried); ok {
						raised = &c
					} else {
						raised = &carried{recovered(r)}
					}
				}
			}()
			fn()
		}()
		// Not so after a Goexit, though something panicked on its way.
		returned = true
	}()
	<-done
	f.rt.moved()
	f.segment = before
	switch {
	case !returned:
		runtime.Goexit()
	case raised != nil:
		panic(*raised)
	}
	return nil
}
