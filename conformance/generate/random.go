package generate

// random is SplitMix64: small, fast, and the same forever. The numbers of math/rand may change between Go versions, and then
// a seed in an old report would name another program.
type random struct{ state uint64 }

// newRandom mixes the parts into one state, so that neighbouring seeds and indices have nothing in common.
func newRandom(parts ...uint64) *random {
	r := &random{}
	for _, part := range parts {
		r.state = (r.state ^ part) + 0x9e3779b97f4a7c15
		r.state = r.next()
	}
	return r
}

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below gives a number in [0, n). The modulo's bias is far below what a test could notice.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// between gives a number in [low, high].
func (r *random) between(low, high int) int { return low + r.below(high-low+1) }

// percent is true in n of 100 cases.
func (r *random) percent(n int) bool { return r.below(100) < n }

func pick[T any](r *random, choices ...T) T { return choices[r.below(len(choices))] }
