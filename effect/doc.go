// Package effect composes programs of typed, lazy effects, as Effect v4 does in
// TypeScript: with the same names, the same meaning and, on the deterministic
// runtime, the same order of events.
//
// # The model
//
// An Effect[A] describes a program that succeeds with an A, fails with an error,
// dies of a defect or is interrupted. Nothing happens before it runs (Run,
// RunExit, RunFork, RunDeterministic), and running it twice does the work twice.
//
//	greet := effect.Sync(func() string { return "hello" }).
//		Map(strings.ToUpper).
//		Timeout(time.Second)
//
// Methods transform an effect and keep or change its result; what nests the
// result in a larger type is a package function: effect.Exit(e),
// effect.Option(e), effect.ForkChild(e), effect.Zip(a, b). Inside Gen, do.Await
// runs an effect and gives its result, as yield* does.
//
// Failures travel as error. CatchTag picks them by Go type. Defects and
// interruptions pass handlers of failures; CatchCause sees everything but the
// interruption of its own fiber, which nothing catches.
//
// # Resources
//
// AcquireRelease takes something and registers its release in the scope at hand
// in one uninterruptible step; Scoped makes that scope and closes it when its
// effect has ended, however. Layers build services in a scope, each once.
//
// # Fibers
//
// ForkChild ties a fiber to the one that forks it, ForkScoped and ForkIn to a
// scope, ForkDetach to nobody. Races and timeouts return when the losers have
// ended, finalizers included.
//
// # Go code
//
// Sync and Try run on the fiber and must not block. Blocking may: it gives a
// context that is cancelled by an interruption and waits for the return.
// TryPromise runs beside the fiber and is left behind by an interruption.
//
// # Failure rules
//
// A panic is a defect with its stack. The zero Effect is a defect when it runs.
// A Do used outside its function is a defect. Recursion that is not a tail call
// is a defect beyond two million levels.
package effect
