// FORMAT.md's operations on the real effect package.
import {
  Cause,
  Clock,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  FiberHandle,
  FiberMap,
  FiberSet,
  Latch,
  Layer,
  Queue,
  Schedule,
  Scheduler,
  Scope,
  Semaphore
} from "effect"
import { causeText, exitData, exitText, plain, tagOf, text } from "./text.mjs"
import { defaultLimit, World } from "./world.mjs"

const Ref = Context.Reference("conformance/Ref", { defaultValue: () => "default" })

const keys = new Map()
const serviceKey = (name) => {
  let key = keys.get(name)
  if (key === undefined) keys.set(name, key = Context.Service(name))
  return key
}

// Plain data, so that two failures with the same tag are structurally equal.
const failure = (tag) => ({ _tag: tag })

/** An exit as programs write it: ["succeed",v], ["fail",tag], ["die",msg] or ["interrupt"]. */
const exitOf = ([kind, value]) => {
  switch (kind) {
    case "succeed":
      return Exit.succeed(value)
    case "fail":
      return Exit.fail(failure(value))
    case "die":
      return Exit.die(value)
    case "interrupt":
      return Exit.interrupt()
    default:
      throw new ProgramError(`not an exit: ${kind}`)
  }
}

/** The program is not one: an unknown operation, say. It is no outcome of a run, unlike a name that nothing is bound to. */
export class ProgramError extends Error {}

const scheduleOf = ([kind, ...args]) => {
  switch (kind) {
    case "recurs":
      return Schedule.recurs(args[0])
    case "spaced":
      return Schedule.spaced(args[0])
    case "fixed":
      return Schedule.fixed(args[0])
    case "windowed":
      return Schedule.windowed(args[0])
    case "exponential":
      return Schedule.exponential(args[0], args[1])
    case "fibonacci":
      return Schedule.fibonacci(args[0])
    case "duration":
      return Schedule.duration(args[0])
    case "during":
      return Schedule.during(args[0])
    case "once":
      return Schedule.once
    case "max":
      return Schedule.max(args[0].map(scheduleOf))
    case "min":
      return Schedule.min(args[0].map(scheduleOf))
    case "concat":
      return Schedule.concat(scheduleOf(args[0]), scheduleOf(args[1]))
    default:
      throw new ProgramError(`unknown schedule: ${kind}`)
  }
}

class Interpreter {
  #names = new Map()
  #counters = new Map()

  constructor(world) {
    this.world = world
  }

  #bind(name, value) {
    this.#names.set(name, value)
  }

  #lookup(name) {
    if (!this.#names.has(name)) throw new Error(`unbound ${name}`)
    return this.#names.get(name)
  }

  /** An effect that looks a name up when it runs, then goes on with what it is bound to. */
  #with(name, use) {
    return Effect.suspend(() => use(this.#lookup(name)))
  }

  /** Makes something and binds it to a name. */
  #make(name, effect) {
    return Effect.map(effect, (made) => {
      this.#bind(name, made)
    })
  }

  #log(line) {
    return Effect.sync(() => this.world.log(line()))
  }

  /** Logs a line, then is `effect`. */
  #logged(line, effect) {
    return Effect.suspend(() => {
      this.world.log(line())
      return effect
    })
  }

  #layer(layer) {
    const [kind, a, b] = layer
    switch (kind) {
      case "l":
        return this.#lookup(a)
      case "merge":
        return Layer.merge(this.#layer(a), this.#layer(b))
      case "provide":
        return Layer.provide(this.#layer(a), this.#layer(b))
      case "provideMerge":
        return Layer.provideMerge(this.#layer(a), this.#layer(b))
      case "fresh":
        return Layer.fresh(this.#layer(a))
      case "catch":
        return Layer.catch(this.#layer(a), () => this.#layer(b))
      case "orDie":
        return Layer.orDie(this.#layer(a))
      default:
        throw new ProgramError(`unknown layer: ${kind}`)
    }
  }

  /**
   * The effect that an expression stands for. `restore` is what the innermost enclosing mask of the text hands out: the
   * one lexical thing in the language.
   */
  compile(expression, restore) {
    if (!Array.isArray(expression)) throw new ProgramError(`not an expression: ${JSON.stringify(expression)}`)
    const [operation, ...args] = expression
    const build = operations[operation]
    if (build === undefined) throw new ProgramError(`unknown operation: ${operation}`)
    return build.call(this, args, (e) => this.compile(e, restore), restore)
  }

  static {
    const concurrency = (n, options) => ({ concurrency: n ?? 1, ...options })
    const forkOptions = (options) => ({
      startImmediately: options.immediate,
      uninterruptible: options.uninterruptible
    })

    operations = {
      // Constants and the trace.
      succeed: ([v]) => Effect.succeed(v),
      fail: ([tag]) => Effect.fail(failure(tag)),
      die: ([message]) => Effect.die(message),
      throw: ([message]) =>
        Effect.sync(() => {
          throw new Error(message)
        }),
      interrupt: () => Effect.interrupt,
      never: () => Effect.never,
      log([x]) {
        return this.#log(() => String(x))
      },
      yield: () => Effect.yieldNow,
      sleep: ([ms]) => Effect.sleep(ms),
      now() {
        return Effect.map(Clock.currentTimeMillis, (now) => {
          this.world.log(`now:${now}`)
          return now
        })
      },

      // Sequence and names.
      seq(expressions, of) {
        let all = Effect.void
        expressions.map(of).forEach((e, i) => {
          all = i === 0 ? e : Effect.andThen(all, e)
        })
        return all
      },
      let([name, e, body], of) {
        const then = of(body)
        return Effect.flatMap(of(e), (value) => {
          this.#bind(name, value)
          return then
        })
      },
      get([name]) {
        return this.#with(name, Effect.succeed)
      },
      show([e], of) {
        return Effect.map(of(e), (value) => {
          this.world.log(`show:${text(value)}`)
          return value
        })
      },
      suspend([e], of) {
        const effect = of(e)
        return Effect.suspend(() => effect)
      },

      // Failures.
      catch: ([e, h], of) => {
        const handler = of(h)
        return Effect.catch(of(e), () => handler)
      },
      catchTag: ([e, tag, h], of) => {
        const handler = of(h)
        return Effect.catchTag(of(e), tag, () => handler)
      },
      catchDefect([e, h], of) {
        const handler = of(h)
        return Effect.catchDefect(of(e), (defect) => this.#logged(() => `defect:${defectText(defect)}`, handler))
      },
      catchCause([e, h], of) {
        const handler = of(h)
        return Effect.catchCause(of(e), (cause) => this.#logged(() => `cause:${causeText(cause)}`, handler))
      },
      tapCause([e, h], of) {
        const handler = of(h)
        return Effect.tapCause(of(e), (cause) => this.#logged(() => `cause:${causeText(cause)}`, handler))
      },
      exit([e], of) {
        return Effect.map(Effect.exit(of(e)), (exit) => {
          this.world.log(`exit:${exitText(exit)}`)
        })
      },
      matchEffect: ([e, f, g], of) => {
        const [onFailure, onSuccess] = [of(f), of(g)]
        return Effect.matchEffect(of(e), { onFailure: () => onFailure, onSuccess: () => onSuccess })
      },
      matchCause([e, f, g], of) {
        const [onFailure, onSuccess] = [of(f), of(g)]
        return Effect.matchCauseEffect(of(e), {
          onFailure: (cause) => this.#logged(() => `cause:${causeText(cause)}`, onFailure),
          onSuccess: () => onSuccess
        })
      },
      flip: ([e], of) => Effect.map(Effect.flip(of(e)), tagOf),
      ignore: ([e], of) => Effect.ignore(of(e)),
      orDie: ([e], of) => Effect.orDie(of(e)),
      option: ([e], of) => Effect.option(of(e)),
      mapError: ([e, tag], of) => Effect.mapError(of(e), () => failure(tag)),
      tapError: ([e, h], of) => {
        const handler = of(h)
        return Effect.tapError(of(e), () => handler)
      },
      sandboxed([e], of) {
        return Effect.catch(Effect.sandbox(of(e)), (cause) => this.#log(() => `cause:${causeText(cause)}`))
      },

      // Finalization.
      onExit([e, f], of) {
        const finalizer = of(f)
        return Effect.onExit(of(e), (exit) => this.#logged(() => `onExit:${exitText(exit)}`, finalizer))
      },
      onError([e, f], of) {
        const finalizer = of(f)
        return Effect.onError(of(e), (cause) => this.#logged(() => `onError:${causeText(cause)}`, finalizer))
      },
      ensuring: ([e, f], of) => Effect.ensuring(of(e), of(f)),
      onInterrupt: ([e, f], of) => {
        const finalizer = of(f)
        return Effect.onInterrupt(of(e), () => finalizer)
      },
      acquireRelease([a, r], of) {
        return this.#acquireRelease(of(a), of(r), undefined)
      },
      acquireReleaseInterruptible([a, r], of) {
        return this.#acquireRelease(of(a), of(r), { interruptible: true })
      },
      acquireUseRelease([a, u, r], of) {
        const [use, release] = [of(u), of(r)]
        return Effect.acquireUseRelease(
          of(a),
          () => use,
          (_, exit) => this.#logged(() => `release:${exitText(exit)}`, release)
        )
      },
      addFinalizer([f], of) {
        return Effect.addFinalizer(this.#finalizer(of(f)))
      },
      scoped: ([e], of) => Effect.scoped(of(e)),
      scopeMake([s, strategy]) {
        return this.#make(s, Scope.make(strategy))
      },
      scopeFork([parent, s, strategy]) {
        return this.#with(parent, (scope) => this.#make(s, Scope.fork(scope, strategy)))
      },
      scopeAdd([s, f], of) {
        const finalizer = this.#finalizer(of(f))
        return this.#with(s, (scope) => Effect.asVoid(Scope.addFinalizerExit(scope, finalizer)))
      },
      scopeClose([s, exit]) {
        const result = exitOf(exit)
        // Where a scope has one finalizer, closing it gives that finalizer's value; no program should see this.
        return this.#with(s, (scope) => Effect.asVoid(Scope.close(scope, result)))
      },
      scopeProvide([s, e], of) {
        const effect = of(e)
        return this.#with(s, (scope) => Scope.provide(effect, scope))
      },
      scopeUse([s, e], of) {
        const effect = of(e)
        return this.#with(s, (scope) => Scope.use(effect, scope))
      },

      // Interruption.
      uninterruptible: ([e], of) => Effect.uninterruptible(of(e)),
      interruptible: ([e], of) => Effect.interruptible(of(e)),
      mask([e]) {
        return Effect.uninterruptibleMask((restore) => this.compile(e, restore))
      },
      interruptibleMask([e]) {
        return Effect.interruptibleMask((restore) => this.compile(e, restore))
      },
      restore: ([e], of, restore) => restore === undefined ? of(e) : restore(of(e)),

      // Fibers.
      fork([name, e, options = {}], of) {
        const effect = of(e)
        const settings = forkOptions(options)
        if (options.in !== undefined) {
          return this.#with(options.in, (scope) => this.#make(name, Effect.forkIn(effect, scope, settings)))
        }
        switch (options.kind) {
          case undefined:
          case "child":
            return this.#make(name, Effect.forkChild(effect, settings))
          case "detach":
            return this.#make(name, Effect.forkDetach(effect, settings))
          case "scoped":
            return this.#make(name, Effect.forkScoped(effect, settings))
          default:
            throw new ProgramError(`unknown kind of fork: ${options.kind}`)
        }
      },
      join([f]) {
        return this.#with(f, Fiber.join)
      },
      await([f]) {
        return this.#with(f, (fiber) =>
          Effect.map(Fiber.await(fiber), (exit) => {
            this.world.log(`await:${f}:${exitText(exit)}`)
          }))
      },
      interruptFiber([f]) {
        return this.#with(f, Fiber.interrupt)
      },
      interruptAll([names]) {
        return Effect.suspend(() => Fiber.interruptAll(names.map((name) => this.#lookup(name))))
      },
      signal([f]) {
        return Effect.sync(() => this.#lookup(f).interruptUnsafe())
      },
      poll([f]) {
        return Effect.sync(() => {
          const exit = this.#lookup(f).pollUnsafe()
          this.world.log(`poll:${f}:${exit === undefined ? "pending" : exitText(exit)}`)
        })
      },
      awaitAllChildren: ([e], of) => Effect.awaitAllChildren(of(e)),

      // Races and collections.
      race: ([e, f], of) => Effect.race(of(e), of(f)),
      raceFirst: ([e, f], of) => Effect.raceFirst(of(e), of(f)),
      raceAll: ([es], of) => Effect.raceAll(es.map(of)),
      raceAllFirst: ([es], of) => Effect.raceAllFirst(es.map(of)),
      timeout: ([ms, e], of) => Effect.timeout(of(e), ms),
      timeoutOption: ([ms, e], of) => Effect.timeoutOption(of(e), ms),
      timeoutOrElse: ([ms, e, h], of) => {
        const handler = of(h)
        return Effect.timeoutOrElse(of(e), { duration: ms, orElse: () => handler })
      },
      all([es, n, options], of) {
        return Effect.map(Effect.all(es.map(of), concurrency(n, options)), (values) => this.world.given(values))
      },
      forEach([values, e, n, options], of) {
        const effect = of(e)
        const each = Effect.forEach(
          values,
          (value) => this.#logged(() => `item:${itemText(value)}`, effect),
          concurrency(n, options)
        )
        return Effect.map(each, (values) => this.world.given(values))
      },
      zip: ([e, f, concurrent], of) => Effect.zip(of(e), of(f), { concurrent: concurrent === true }),

      // Deferreds, semaphores, latches, queues.
      deferred([d]) {
        return this.#make(d, Deferred.make())
      },
      dAwait([d]) {
        return this.#with(d, Deferred.await)
      },
      dPoll([d]) {
        return this.#with(d, (deferred) =>
          Effect.map(Deferred.isDone(deferred), (done) => {
            this.world.log(`isDone:${d}:${done}`)
            return done
          }))
      },
      dDone([d, exit]) {
        const result = exitOf(exit)
        return this.#with(d, (deferred) =>
          Effect.map(Deferred.done(deferred, result), (done) => {
            this.world.log(`done:${d}:${done}`)
            return done
          }))
      },
      dComplete([d, e], of) {
        const effect = of(e)
        return this.#with(d, (deferred) => Deferred.complete(deferred, effect))
      },
      dInto([d, e], of) {
        const effect = of(e)
        return this.#with(d, (deferred) => Deferred.into(effect, deferred))
      },
      semaphore([s, n]) {
        return this.#make(s, Semaphore.make(n))
      },
      withPermits([s, n, e], of) {
        const effect = of(e)
        return this.#with(s, (semaphore) => Semaphore.withPermits(semaphore, n, effect))
      },
      ifAvailable([s, n, e], of) {
        const effect = of(e)
        return this.#with(s, (semaphore) => Semaphore.withPermitsIfAvailable(semaphore, n, effect))
      },
      take([s, n]) {
        return this.#with(s, (semaphore) => Semaphore.take(semaphore, n))
      },
      release([s, n]) {
        return this.#with(s, (semaphore) => Semaphore.release(semaphore, n))
      },
      latch([l, open]) {
        return this.#make(l, Latch.make(open))
      },
      lOpen([l]) {
        return this.#with(l, Latch.open)
      },
      lClose([l]) {
        return this.#with(l, Latch.close)
      },
      lRelease([l]) {
        return this.#with(l, Latch.release)
      },
      lAwait([l]) {
        return this.#with(l, Latch.await)
      },
      whenOpen([l, e], of) {
        const effect = of(e)
        return this.#with(l, (latch) => Latch.whenOpen(latch, effect))
      },
      queue([q, bound, n]) {
        switch (bound) {
          case "unbounded":
            return this.#make(q, Queue.unbounded())
          case "dropping":
            return this.#make(q, Queue.dropping(n))
          case "sliding":
            return this.#make(q, Queue.sliding(n))
          default:
            return this.#make(q, Queue.bounded(bound))
        }
      },
      qOffer([q, v]) {
        return this.#with(q, (queue) => Queue.offer(queue, v))
      },
      qTake([q]) {
        return this.#with(q, Queue.take)
      },
      qTakeAll([q]) {
        return this.#with(q, Queue.takeAll)
      },
      qSize([q]) {
        return this.#with(q, Queue.size)
      },
      qShutdown([q]) {
        return this.#with(q, Queue.shutdown)
      },
      qFail([q, tag]) {
        return this.#with(q, (queue) => Queue.fail(queue, failure(tag)))
      },
      qEnd([q]) {
        return this.#with(q, Queue.end)
      },

      // Repetition.
      retry: ([e, times], of) => Effect.retry(of(e), { times }),
      repeat: ([e, times], of) => Effect.asVoid(Effect.repeat(of(e), { times })),
      retrySpaced: ([e, times, ms], of) => Effect.retry(of(e), { schedule: Schedule.spaced(ms), times }),
      repeatSpaced: ([e, times, ms], of) => Effect.asVoid(Effect.repeat(of(e), { schedule: Schedule.spaced(ms), times })),
      retryExponential: ([e, times, ms], of) => Effect.retry(of(e), { schedule: Schedule.exponential(ms), times }),
      repeatFixed: ([e, times, ms], of) => Effect.asVoid(Effect.repeat(of(e), { schedule: Schedule.fixed(ms), times })),
      retrySchedule: ([e, schedule], of) => Effect.retry(of(e), scheduleOf(schedule)),
      repeatSchedule: ([e, schedule], of) =>
        Effect.map(Effect.repeat(of(e), scheduleOf(schedule)), (output) => typeof output === "number" ? output : null),
      forever: ([e], of) => Effect.forever(of(e)),
      failUntil([e, tag, n, counter], of) {
        const effect = of(e)
        return Effect.suspend(() => {
          const runs = this.#counters.get(counter) ?? 0
          this.#counters.set(counter, runs + 1)
          return runs < n ? Effect.fail(failure(tag)) : effect
        })
      },
      cached([c, e], of) {
        return this.#make(c, Effect.cached(of(e)))
      },
      cachedGet([c]) {
        return this.#with(c, (effect) => effect)
      },

      // Collections of fibers.
      fiberMap([m]) {
        return this.#make(m, FiberMap.make())
      },
      fmRun([m, key, e, options], of) {
        const effect = of(e)
        return this.#with(m, (map) => this.#make(`${m}/${key}`, FiberMap.run(map, key, effect, options)))
      },
      fmRemove([m, key]) {
        return this.#with(m, (map) => FiberMap.remove(map, key))
      },
      fmHas([m, key]) {
        return this.#with(m, (map) => FiberMap.has(map, key))
      },
      fmSize([m]) {
        return this.#with(m, FiberMap.size)
      },
      fmClear([m]) {
        return this.#with(m, FiberMap.clear)
      },
      fmJoin([m]) {
        return this.#with(m, FiberMap.join)
      },
      fmAwaitEmpty([m]) {
        return this.#with(m, FiberMap.awaitEmpty)
      },
      fiberSet([s]) {
        return this.#make(s, FiberSet.make())
      },
      fsRun([s, e, options], of) {
        const effect = of(e)
        return this.#with(s, (set) => Effect.asVoid(FiberSet.run(set, effect, options)))
      },
      fsSize([s]) {
        return this.#with(s, FiberSet.size)
      },
      fsClear([s]) {
        return this.#with(s, FiberSet.clear)
      },
      fsJoin([s]) {
        return this.#with(s, FiberSet.join)
      },
      fsAwaitEmpty([s]) {
        return this.#with(s, FiberSet.awaitEmpty)
      },
      fiberHandle([h]) {
        return this.#make(h, FiberHandle.make())
      },
      fhRun([h, e, options], of) {
        const effect = of(e)
        return this.#with(h, (handle) => Effect.asVoid(FiberHandle.run(handle, effect, options)))
      },
      fhClear([h]) {
        return this.#with(h, FiberHandle.clear)
      },
      fhJoin([h]) {
        return this.#with(h, FiberHandle.join)
      },
      fhAwaitEmpty([h]) {
        return this.#with(h, FiberHandle.awaitEmpty)
      },

      // Layers and services.
      layer([name, key, e], of) {
        const effect = of(e)
        return Effect.sync(() => this.#bind(name, Layer.effect(serviceKey(key), effect)))
      },
      provideLayer([layer, e], of) {
        const effect = of(e)
        return Effect.suspend(() => Effect.provide(effect, this.#layer(layer)))
      },
      buildLayer([layer, s]) {
        return this.#with(s, (scope) => Effect.asVoid(Layer.buildWithScope(this.#layer(layer), scope)))
      },
      service([key]) {
        return Effect.map(Effect.service(serviceKey(key)), (value) => {
          this.world.log(`service:${key}:${typeof value === "string" ? value : text(value)}`)
          return value
        })
      },
      provideService: ([key, v, e], of) => Effect.provideService(of(e), serviceKey(key), v),
      withRef: ([v, e], of) => Effect.provideService(of(e), Ref, v),
      readRef() {
        return Effect.map(Effect.service(Ref), (value) => {
          this.world.log(`ref:${typeof value === "string" ? value : text(value)}`)
          return value
        })
      },

      // Foreign work.
      tryPromise([options]) {
        const start = (signal) => this.#foreign(options, signal)
        const fail = (error) => error
        return options.signal
          ? Effect.tryPromise({ try: (signal) => start(signal), catch: fail })
          : Effect.tryPromise({ try: () => start(undefined), catch: fail })
      },
      callback([{ name, ms, result, cancel }], of) {
        const outcome = result === undefined ? undefined : exitOf(result)
        const cleanup = cancel === undefined ? Effect.void : of(cancel)
        return Effect.callback((resume) => {
          this.world.log(`register:${name}`)
          const forget = ms === undefined ? () => {} : this.world.timer(ms, () => resume(outcome))
          // The timer goes last: a cleanup that fails or never ends leaves it, and the clock still goes there.
          return Effect.andThen(this.#logged(() => `cancel:${name}`, cleanup), Effect.sync(forget))
        })
      }
    }
  }

  #finalizer(effect) {
    return (exit) => this.#logged(() => `finalizer:${exitText(exit)}`, effect)
  }

  #acquireRelease(acquire, release, options) {
    return Effect.acquireRelease(
      acquire,
      (_, exit) => this.#logged(() => `release:${exitText(exit)}`, release),
      options
    )
  }

  #foreign({ name, ms, result, abortable }, signal) {
    this.world.log(`started:${name}`)
    const { reject, resolve, thenable } = this.world.promise()
    const settle = () => result[0] === "succeed" ? resolve(result[1]) : reject(failure(result[1]))
    const forget = this.world.timer(ms, () => {
      this.world.log(`settled:${name}`)
      settle()
    })
    signal?.addEventListener("abort", () => {
      this.world.log(`abort:${name}`)
      if (!abortable) return
      forget()
      settle()
    })
    return thenable
  }
}

// Filled by the class's static block, where the builders can reach its private members.
var operations

/** The operations that this interpreter knows. */
export const operationNames = () => Object.keys(operations)

const itemText = (value) => typeof value === "string" ? value : text(value)
const defectText = (defect) => {
  const { failure: [[, message]] } = exitData(Exit.die(defect))
  return typeof message === "string" ? message : JSON.stringify(message)
}

/**
 * Runs a program: `{trace, exit, now}` as the vectors have it, plus `steps` and `longest` (see World). A run that goes
 * past the limit has `error: "step limit"` instead, one that leaves the world `error: "left the world"`, and a text that is no program has its complaint.
 */
export const runProgram = (program, limit = defaultLimit) => {
  const world = new World(limit)
  let effect
  try {
    effect = new Interpreter(world).compile(program, undefined)
  } catch (error) {
    return { error: error instanceof ProgramError ? error.message : `cannot be built: ${error}` }
  }
  const context = Context.empty().pipe(
    Context.add(Scheduler.Scheduler, world.scheduler),
    Context.add(Clock.Clock, world.clock)
  )
  let exit = "pending"
  Effect.runForkWith(context)(effect).addObserver((done) => {
    exit = exitData(done)
    world.log("#done")
  })
  world.run()
  const { endless, left, longest, steps, time, trace } = world
  if (left) return { error: "left the world" }
  if (endless) return { error: "step limit", steps }
  return { trace, exit, now: time, steps, longest }
}
