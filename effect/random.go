package effect

import (
	"math/rand/v2"
	"sync"

	"github.com/rivus/tether/scope"
)

// Random is where effects draw random numbers from. By default they come from
// the runtime: unpredictable on the parallel one, on the deterministic one from
// DeterministicConfig.Seed. A source that several fibers share must be safe for
// that. It is not for secrets.
var Random = NewReference("Random", func() rand.Source { return nil })

// randomSource is the source at hand.
func randomSource(f *scope.Fiber) rand.Source {
	if src, ok := Random.Find(f.Env()); ok && src != nil {
		return src
	}
	if d, ok := f.Runtime().(*scope.Deterministic); ok {
		return d.Random()
	}
	return global{}
}

// global is the process's own source.
type global struct{}

func (global) Uint64() uint64 { return rand.Uint64() }

// WithRandomSeed runs e with numbers that depend only on seed and on the order
// of the draws (TypeScript: Random.withSeed). Each run starts afresh.
func (e Effect[A]) WithRandomSeed[_ onUse](seed uint64) Effect[A] { return withEnv(e, seeded(seed)) }

//go:noinline
func seeded(seed uint64) func(*scope.Fiber, *scope.Env) *scope.Env {
	return func(_ *scope.Fiber, env *scope.Env) *scope.Env {
		return Random.In(env, rand.Source(&shared{src: rand.NewPCG(seed, 0)}))
	}
}

// shared makes a source that fibers can share.
type shared struct {
	mu  sync.Mutex
	src rand.Source
}

func (s *shared) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.src.Uint64()
}

// unit64 is a number from [0, 1).
func unit64(src rand.Source) float64 { return float64(src.Uint64()>>11) / (1 << 53) }

func drawing[A any](draw func(src rand.Source) A) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		return draw(randomSource(f)), nil, Effect[A]{}
	}}
}

// RandomNext gives a number from [0, 1) (TypeScript: Random.next).
func RandomNext() Effect[float64] { return drawing(unit64) }

// RandomNextBoolean gives true or false.
func RandomNextBoolean() Effect[bool] {
	return drawing(func(src rand.Source) bool { return src.Uint64()>>63 == 1 })
}

// RandomNextInt gives any int.
func RandomNextInt() Effect[int] {
	return drawing(func(src rand.Source) int { return int(src.Uint64()) })
}

// RandomNextBetween gives a number from [low, high).
func RandomNextBetween(low, high float64) Effect[float64] {
	return drawing(func(src rand.Source) float64 { return low + unit64(src)*(high-low) })
}

// RandomNextIntBetween gives an int from low to high, both included. A high
// below low is a defect.
func RandomNextIntBetween(low, high int) Effect[int] {
	return drawing(func(src rand.Source) int {
		if n := uint64(high) - uint64(low) + 1; high >= low && n != 0 {
			return int(uint64(low) + rand.New(src).Uint64N(n))
		}
		if high < low {
			panic("effect: RandomNextIntBetween with high below low")
		}
		return int(src.Uint64())
	})
}

// RandomShuffle gives the elements in random order, in a new slice.
func RandomShuffle[T any](elements []T) Effect[[]T] {
	return drawing(func(src rand.Source) []T {
		out := append([]T(nil), elements...)
		rand.New(src).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	})
}

// RandomChoice gives one of the elements, and fails with *NoSuchElement when
// there are none.
func RandomChoice[T any](elements []T) Effect[T] {
	if len(elements) == 0 {
		return Fail[T](&NoSuchElement{})
	}
	return drawing(func(src rand.Source) T { return elements[rand.New(src).IntN(len(elements))] })
}
