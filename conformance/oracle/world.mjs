// The world that one program runs in: its run queue, its timers, its foreign work, its trace.
//
// Nothing here is asynchronous. Effect reaches the outside through three doors only: a scheduler's `setImmediate`, a
// clock's `sleep`, and the `then` of a promise. Each is replaced by a list, and `run` empties the lists in the fixed order
// that FORMAT.md states. So a run is a pure function of its program, and thousands fit in a second.
import { Duration, Effect, Scheduler } from "effect"

/**
 * The steps that a run is allowed before it counts as endless. Programs that end take hundreds; a regress, such as a layer
 * whose cleanup builds itself, must be given up before it exhausts the stack, which would look like a defect.
 */
export const defaultLimit = 5_000

export class World {
  trace = []
  time = 0
  /** Steps of all fibers so far. */
  steps = 0
  /** The most steps that a fiber made between two parks. Effect yields by itself after 2,048, which is out of scope. */
  longest = 0
  /** Set when the run was given up: too many steps. */
  endless = false
  /**
   * Set when a fiber asked the machine for its time or its turn (one that has ended lost its clock, and lends none), or when
   * a list changed after it was given.
   */
  left = false

  #limit
  #ready = []
  #timers = []
  #foreign = []
  #sequence = 0
  #given = []

  constructor(limit = defaultLimit) {
    this.#limit = limit
    this.scheduler = this.#makeScheduler()
    this.clock = this.#makeClock()
  }

  log(line) {
    this.trace.push(line)
  }

  /** Calls `action` after `ms`; gives what takes it back. Equal times fire in the order they were set. */
  timer(ms, action) {
    const entry = { at: this.time + ms, order: this.#sequence++, action }
    this.#timers.push(entry)
    return () => {
      const index = this.#timers.indexOf(entry)
      if (index >= 0) this.#timers.splice(index, 1)
    }
  }

  /**
   * A promise as far as Effect looks into one: it has `then`. Its reactions wait in a list of their own, so that no
   * microtask queue is needed.
   */
  promise() {
    const world = this
    let settled
    const reactions = []
    const settle = (kind) => (value) => {
      if (settled !== undefined) return
      settled = { kind, value }
      for (const react of reactions) world.#foreign.push(() => react[kind](value))
    }
    return {
      resolve: settle("resolve"),
      reject: settle("reject"),
      thenable: {
        then(resolve, reject) {
          const react = { resolve, reject }
          if (settled === undefined) reactions.push(react)
          else world.#foreign.push(() => react[settled.kind](settled.value))
        }
      }
    }
  }

  /** Notes a list that was given. One that changes later, since a child ended after the whole, is no value in Go. */
  given(values) {
    if (Array.isArray(values)) this.#given.push({ values, copy: [...values] })
    return values
  }

  /** Runs until nothing is ready and no timer is left, or until the step limit. */
  run() {
    const { setImmediate, setTimeout } = globalThis
    globalThis.setTimeout = globalThis.setImmediate = () => {
      this.left = true
    }
    try {
      this.#drain()
    } finally {
      Object.assign(globalThis, { setImmediate, setTimeout })
      const changed = ({ copy, values }) => copy.length !== values.length || copy.some((value, i) => value !== values[i])
      if (this.#given.some(changed)) this.left = true
    }
  }

  #drain() {
    while (!this.endless) {
      if (this.#ready.length > 0) this.#ready.shift()()
      else if (this.#foreign.length > 0) this.#foreign.shift()()
      else if (this.#timers.length > 0) this.#fire()
      else return
    }
  }

  #fire() {
    let first = this.#timers[0]
    for (const entry of this.#timers) {
      if (entry.at < first.at || (entry.at === first.at && entry.order < first.order)) first = entry
    }
    this.#timers.splice(this.#timers.indexOf(first), 1)
    this.time = Math.max(this.time, first.at)
    first.action()
  }

  #makeScheduler() {
    const scheduler = new Scheduler.MixedScheduler("async", (task) => {
      let cancelled = false
      this.#ready.push(() => {
        if (!cancelled) task()
      })
      return () => {
        cancelled = true
      }
    })
    // Asked before every step. A fiber never has to yield for having run long, except to give an endless run up: what it
    // yields into is a queue that `run` no longer looks at.
    scheduler.shouldYield = (fiber) => {
      this.steps++
      if (fiber.currentOpCount > this.longest) this.longest = fiber.currentOpCount
      if (this.steps > this.#limit) this.endless = true
      return this.endless
    }
    return scheduler
  }

  #makeClock() {
    const millis = () => this.time
    const nanos = () => BigInt(Math.round(this.time * 1e6))
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => {
        const ms = Duration.toMillis(duration)
        if (!Number.isFinite(ms)) return Effect.never
        return Effect.callback((resume) => {
          const cancel = this.timer(ms, () => resume(Effect.void))
          return Effect.sync(cancel)
        })
      }
    }
  }
}
