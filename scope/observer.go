package scope

// Observer hears that a fiber ended. Its zero value with a function is ready;
// it belongs to one fiber at a time and holds its own list links, so that
// observing costs no allocation beyond the observer.
type Observer struct {
	fn         func(*Fiber) // nil: wake is all there is to do
	wake       Token
	prev, next *Observer
	listed     bool
}

// Init makes o, which must be zero, what NewObserver makes, in memory of the caller's.
func (o *Observer) Init(fn func(*Fiber)) { o.fn = fn }

// NewObserver makes an observer that calls fn, once, on the goroutine that
// ended the fiber. fn must not block and must not hold a lock while it wakes.
func NewObserver(fn func(*Fiber)) *Observer { return &Observer{fn: fn} }

func (o *Observer) hear(f *Fiber) {
	if o.fn != nil {
		o.fn(f)
	} else {
		o.wake.Wake()
	}
}

type observerList struct{ head, tail *Observer }

func (l *observerList) push(o *Observer) {
	o.listed = true
	o.prev = l.tail
	if l.tail == nil {
		l.head = o
	} else {
		l.tail.next = o
	}
	l.tail = o
}

func (l *observerList) remove(o *Observer) {
	if !o.listed {
		return
	}
	if o.prev == nil {
		l.head = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		l.tail = o.prev
	} else {
		o.next.prev = o.prev
	}
	o.prev, o.next, o.listed = nil, nil, false
}

// next takes the first observer out and tells whether more are left.
func (l *observerList) next() (o *Observer, more bool) {
	if o = l.head; o != nil {
		l.remove(o)
	}
	return o, l.head != nil
}

// Observe adds an observer, or answers false when the fiber has ended, in which
// case o is not called. Any goroutine may call it.
func (f *Fiber) Observe(o *Observer) bool {
	f.mu.Lock()
	if f.done {
		f.mu.Unlock()
		return false
	}
	f.observers.push(o)
	f.mu.Unlock()
	return true
}

// Unobserve takes an observer back. It may still be called when its call had
// begun. Any goroutine may call it.
func (f *Fiber) Unobserve(o *Observer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observers.remove(o)
}
