package effect

// ring is a first-in first-out buffer that grows as needed. Its zero value is
// empty. Pushing and popping are O(1) amortized and allocate only when the
// buffer grows; after a burst it shrinks again.
type ring[A any] struct {
	slots []A
	head  int
	n     int
}

const (
	ringLeast = 8
	// ringKeep is the size up to which an empty ring keeps its memory, so that
	// small bursts do not allocate again and again.
	ringKeep = 256
)

func (r *ring[A]) len[_ onUse]() int { return r.n }

// at is the i-th value, 0 being the oldest.
func (r *ring[A]) at[_ onUse](i int) A { return r.slots[r.index(i)] }

// slot is where the i-th value is.
func (r *ring[A]) slot[_ onUse](i int) *A { return &r.slots[r.index(i)] }

// index relies on the number of slots being a power of two.
func (r *ring[A]) index[_ onUse](i int) int { return (r.head + i) & (len(r.slots) - 1) }

func (r *ring[A]) push[_ onUse](v A) {
	if r.n == len(r.slots) {
		r.resize(max(ringLeast, 2*r.n))
	}
	r.slots[r.index(r.n)] = v
	r.n++
}

// pop takes the oldest value, which there must be.
func (r *ring[A]) pop[_ onUse]() A {
	v := r.slots[r.head]
	r.drop()
	return v
}

// drop forgets the oldest value, which there must be.
func (r *ring[A]) drop[_ onUse]() {
	var zero A
	r.slots[r.head] = zero // what was taken must not be kept alive from here
	r.head = r.index(1)
	r.n--
	if len(r.slots) > ringKeep && r.n <= len(r.slots)/4 {
		r.resize(len(r.slots) / 2)
	}
}

// popN takes the n oldest values, of which there must be as many.
func (r *ring[A]) popN[_ onUse](n int) []A {
	out := make([]A, n)
	k := copy(out, r.slots[r.head:min(r.head+n, len(r.slots))])
	copy(out[k:], r.slots)
	if n == r.n {
		r.clear()
		return out
	}
	for range n {
		r.drop()
	}
	return out
}

func (r *ring[A]) clear[_ onUse]() {
	if len(r.slots) > ringKeep {
		*r = ring[A]{}
		return
	}
	clear(r.slots)
	r.head, r.n = 0, 0
}

// resize moves the values into size slots.
func (r *ring[A]) resize[_ onUse](size int) {
	next := make([]A, size)
	if r.n > 0 {
		k := copy(next, r.slots[r.head:min(r.head+r.n, len(r.slots))])
		copy(next[k:], r.slots[:r.n-k])
	}
	r.slots, r.head = next, 0
}
