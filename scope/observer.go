package scope

// Listener hears that a fiber ended, on the goroutine that ended it. Ended must not
// block or panic, and must not hold a lock while it wakes.
type Listener interface{ Ended(f *Fiber) }

// Observer is a listener's place among those of one fiber at a time. It holds its own
// list links, so that observing costs no allocation beyond the observer.
type Observer struct {
	to         Listener
	prev, next *Observer
}

// Init makes o, which must be zero, the place of to.
func (o *Observer) Init(to Listener) { o.to = to }

// NewObserver makes an observer that calls fn, once, as Listener says.
func NewObserver(fn func(*Fiber)) *Observer { return &Observer{to: listener(fn)} }

// NewBystander is NewObserver of one that hears of the end for its own order, and does
// not look at how the fiber ended. Where only bystanders observe a fiber, a defect of it
// counts as one that nobody observes, unless looks says that somebody looks at the exit
// through this one; nil says that nobody does. looks is called before fn, under no lock.
func NewBystander(fn func(*Fiber), looks func() bool) *Observer {
	return &Observer{to: &aside{fn, looks}}
}

// bystander is a Listener through which somebody may look at the exit, or nobody.
type bystander interface{ looks() bool }

type aside struct {
	fn   func(*Fiber)
	asks func() bool
}

func (a *aside) Ended(f *Fiber) { a.fn(f) }
func (a *aside) looks() bool    { return a.asks != nil && a.asks() }

type listener func(*Fiber)

func (fn listener) Ended(f *Fiber) { fn(f) }

type observerList struct{ head, tail *Observer }

func (l *observerList) push(o *Observer) {
	o.prev = l.tail
	if l.tail == nil {
		l.head = o
	} else {
		l.tail.next = o
	}
	l.tail = o
}

// remove takes o out, if it is there.
func (l *observerList) remove(o *Observer) {
	switch {
	case o.prev != nil:
		o.prev.next = o.next
	case l.head == o:
		l.head = o.next
	default:
		return
	}
	if o.next == nil {
		l.tail = o.prev
	} else {
		o.next.prev = o.prev
	}
	o.prev, o.next = nil, nil
}

// next takes the first observer out and tells whether more are left.
func (l *observerList) next() (o *Observer, more bool) {
	if o = l.head; o != nil {
		l.remove(o)
	}
	return o, l.head != nil
}

// bystanders are those in l, and others tells whether there is anybody else.
func (l *observerList) bystanders() (list []bystander, others bool) {
	for o := l.head; o != nil; o = o.next {
		if b, ok := o.to.(bystander); ok {
			list = append(list, b)
		} else {
			others = true
		}
	}
	return list, others
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
