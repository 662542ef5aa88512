// effect's part of the work: each case does n iterations of `per` units. One that
// gives a number has measured itself: nanoseconds.
import { Deferred, Effect, Exit, Fiber, Scope, Semaphore } from "effect"

const run = Effect.runPromise

// Runs an effect n times in one fiber.
const times = (effect) => (n) =>
  run(Effect.gen(function*() {
    for (let i = 0; i < n; i++) yield* effect
  }))

const one = Effect.succeed(1)

const down = (i) => i === 0 ? Effect.succeed(0) : Effect.flatMap(Effect.succeed(i), (i) => down(i - 1))

let mapped = Effect.succeed(0)
for (let i = 0; i < 1000; i++) mapped = Effect.map(mapped, (x) => x + 1)

const finalizers = (n) =>
  run(Effect.gen(function*() {
    for (let i = 0; i < n; i++) {
      const scope = Scope.makeUnsafe()
      for (let k = 0; k < 100; k++) yield* Scope.addFinalizer(scope, Effect.void)
      yield* Scope.close(scope, Exit.void)
    }
  }))

const items = Array.from({ length: 1000 }, (_, i) => i)

const permit = Semaphore.makeUnsafe(1)

const contended = Effect.gen(function*() {
  const semaphore = Semaphore.makeUnsafe(4)
  const turn = Semaphore.withPermits(semaphore, 1)(Effect.yieldNow)
  const worker = Effect.gen(function*() {
    for (let i = 0; i < 10; i++) yield* turn
  })
  const fibers = []
  for (let i = 0; i < 100; i++) fibers.push(yield* Effect.forkChild(worker))
  yield* Fiber.joinAll(fibers)
})

const forkMany = (count) =>
  Effect.gen(function*() {
    const fibers = []
    for (let i = 0; i < count; i++) fibers.push(yield* Effect.forkChild(Effect.sync(() => i)))
    yield* Fiber.joinAll(fibers)
  })

// Forks as many, lets all of them park, and interrupts them one by one. It gives
// what each half took.
const interruptMany = (count) =>
  Effect.gen(function*() {
    let cleaned = 0
    const parked = Effect.ensuring(Effect.never, Effect.sync(() => { cleaned++ }))
    const fibers = []
    const start = now()
    for (let i = 0; i < count; i++) fibers.push(yield* Effect.forkChild(parked))
    yield* Effect.yieldNow
    const middle = now()
    for (const fiber of fibers) yield* Fiber.interrupt(fiber)
    const end = now()
    if (cleaned !== count) throw new Error(`${cleaned} of ${count} fibers were cleaned up`)
    return { fork: middle - start, interrupt: end - middle }
  })

const now = () => performance.now() * 1e6

// One half of interruptMany, in nanoseconds.
const half = (count, which) => async (n) => {
  let took = 0
  for (let i = 0; i < n; i++) took += (await run(interruptMany(count)))[which]
  return took
}

const pingPong = (n) =>
  run(Effect.gen(function*() {
    let ping = Deferred.makeUnsafe()
    let slot
    const echo = yield* Effect.forkChild(Effect.gen(function*() {
      let mine = ping
      for (let i = 0; i < n; i++) {
        yield* Deferred.await(mine)
        const { pong, next } = slot
        mine = next
        yield* Deferred.succeed(pong, undefined)
      }
    }))
    for (let i = 0; i < n; i++) {
      const pong = Deferred.makeUnsafe()
      const next = Deferred.makeUnsafe()
      slot = { pong, next }
      yield* Deferred.succeed(ping, undefined)
      yield* Deferred.await(pong)
      ping = next
    }
    yield* Fiber.join(echo)
  }))

export const cases = {
  genAwait: { work: times(one) },
  flatMap: { work: times(Effect.suspend(() => down(1000))), per: 1000 },
  map: { work: times(mapped), per: 1000 },
  forkJoin: {
    work: times(Effect.flatMap(Effect.forkChild(Effect.sync(() => 1)), Fiber.join))
  },
  forkMany: { work: times(forkMany(10_000)), per: 10_000 },
  scopeOne: { work: times(Effect.scoped(Effect.acquireRelease(one, () => Effect.void))) },
  finalizers: { work: finalizers, per: 100 },
  pingPong: { work: pingPong },
  permit: { work: times(Semaphore.withPermits(permit, 1)(one)) },
  contended: { work: times(contended), per: 1000 },
  raceFirst: { work: times(Effect.raceFirst(one, Effect.succeed(2))) },
  timeout: { work: times(Effect.timeout(one, "1 minute")) },
  interrupt: { work: times(interruptMany(100)), per: 100 },
  forEach: {
    work: times(Effect.forEach(items, (i) => Effect.sync(() => i * 2), { concurrency: 4 })),
    per: 1000
  }
}
for (const size of [1_000, 3_000, 10_000, 30_000, 100_000]) {
  cases[`park${size}`] = { work: half(size, "fork"), per: size }
  cases[`interrupt${size}`] = { work: half(size, "interrupt"), per: size }
}
