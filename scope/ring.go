package scope

// ring is a queue in a buffer that is used again.
type ring[T any] struct {
	// buf has a length that is a power of two, or none.
	buf     []T
	head, n int
}

func (r *ring[T]) len() int { return r.n }

func (r *ring[T]) at(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

func (r *ring[T]) push(v T) {
	if r.n == len(r.buf) {
		larger := make([]T, max(8, 2*r.n))
		for i := range r.n {
			larger[i] = *r.at(i)
		}
		r.buf, r.head = larger, 0
	}
	r.n++
	*r.at(r.n - 1) = v
}

// pop takes out the first; there must be one.
func (r *ring[T]) pop() T {
	var zero T
	first := r.at(0)
	v := *first
	*first = zero
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return v
}

// remove takes out the one at i and keeps the order of the others.
func (r *ring[T]) remove(i int) T {
	v := *r.at(i)
	for ; i > 0; i-- {
		*r.at(i) = *r.at(i - 1)
	}
	r.pop()
	return v
}
