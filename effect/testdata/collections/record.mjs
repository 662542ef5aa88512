// Runs programs of the collections (collections_recorded_test.go) on the real effect package: JSON lines in, JSON lines out.
import * as fs from "node:fs"
import { Cause, Clock, Context, Duration, Effect, Exit, Fiber, PubSub, Queue, Scheduler, Scope, ScopedRef } from "../../../conformance/node_modules/effect/dist/index.js"
import { exitText, text } from "../../../conformance/oracle/text.mjs"
import { World } from "../../../conformance/oracle/world.mjs"

const failure = (tag) => ({ _tag: tag })

const exitOf = ([kind, x]) => {
  switch (kind) {
    case "succeed":
      return Exit.succeed(x)
    case "fail":
      return Exit.fail(failure(x))
    case "die":
      return Exit.die(x)
    default:
      return Exit.interrupt()
  }
}

const run = (program) => {
  const world = new World(20_000)
  const log = (line) => Effect.sync(() => world.log(line))
  const named = new Map()
  const at = (name) => {
    if (!named.has(name)) throw new Error(`unbound ${name}`)
    return named.get(name)
  }
  const on = (name, use) => Effect.suspend(() => use(at(name)))
  const bind = (name, effect) => Effect.map(effect, (made) => void named.set(name, made))
  const number = (n) => n === "infinity" ? Infinity : n

  // A source that logs, waits and ends as told; runs take the results in turn.
  const source = (name, ms, results) => {
    let runs = 0
    return Effect.suspend(() => {
      const i = runs++
      world.log(`source:${name}:${i}`)
      const end = Effect.suspend(() => exitOf(results[Math.min(i, results.length - 1)]))
      return Effect.onExit(ms === null ? end : Effect.andThen(Effect.sleep(ms), end), (exit) =>
        log(`sourced:${name}:${i}:${exitText(exit)}`))
    })
  }
  const acquire = (v, ms, how) =>
    Effect.acquireRelease(
      Effect.andThen(ms === null ? Effect.void : Effect.sleep(ms), Effect.suspend(() => {
        world.log(`acquire:${v}`)
        return how === "fail" ? Effect.fail(failure("A")) : Effect.succeed(v)
      })),
      (_, exit) => Effect.andThen(log(`release:${v}:${exitText(exit)}`), how === "badRelease" ? Effect.die("r") : Effect.void)
    )

  const ops = {
    queue: (q, kind, n) =>
      bind(q, kind === "bounded" ? Queue.bounded(n) : kind === "dropping" ? Queue.dropping(n) : kind === "sliding" ? Queue.sliding(n) : Queue.unbounded()),
    offer: (q, v) => on(q, (queue) => Queue.offer(queue, v)),
    offerNow: (q, v) => on(q, (queue) => Effect.sync(() => Queue.offerUnsafe(queue, v))),
    offerAll: (q, list) => on(q, (queue) => Queue.offerAll(queue, list)),
    offerAllNow: (q, list) => on(q, (queue) => Effect.sync(() => Queue.offerAllUnsafe(queue, list))),
    take: (q) => on(q, Queue.take),
    takeNow: (q) => on(q, (queue) => Effect.suspend(() => Queue.takeUnsafe(queue) ?? Effect.succeed("nothing"))),
    takeAll: (q) => on(q, Queue.takeAll),
    takeN: (q, n) => on(q, (queue) => Queue.takeN(queue, n)),
    takeBetween: (q, a, b) => on(q, (queue) => Queue.takeBetween(queue, a, b)),
    poll: (q) => on(q, Queue.poll),
    peek: (q) => on(q, Queue.peek),
    size: (q) => on(q, Queue.size),
    isFull: (q) => on(q, Queue.isFull),
    clear: (q) => on(q, Queue.clear),
    collect: (q) => on(q, Queue.collect),
    flush: (q) => on(q, Queue.flush),
    shutdown: (q) => on(q, Queue.shutdown),
    fail: (q, tag) => on(q, (queue) => Queue.fail(queue, failure(tag))),
    failCause: (q, list) => on(q, (queue) => Queue.failCause(queue, Cause.fromReasons(list.flatMap((x) => exitOf(x).cause.reasons)))),
    end: (q) => on(q, Queue.end),
    interrupt: (q) => on(q, Queue.interrupt),
    awaitEnd: (q) => on(q, Queue.await),
    into: (q, exit) => on(q, (queue) => Queue.into(Effect.suspend(() => exitOf(exit)), queue)),

    pubsub: (p, kind, n, replay) =>
      bind(p, kind === "bounded"
        ? PubSub.bounded({ capacity: n, replay })
        : kind === "dropping"
        ? PubSub.dropping({ capacity: n, replay })
        : kind === "sliding"
        ? PubSub.sliding({ capacity: n, replay })
        : PubSub.unbounded({ replay })),
    publish: (p, v) => on(p, (hub) => PubSub.publish(hub, v)),
    publishNow: (p, v) => on(p, (hub) => Effect.sync(() => PubSub.publishUnsafe(hub, v))),
    publishAll: (p, list) => on(p, (hub) => PubSub.publishAll(hub, list)),
    pEnd: (p, v) => on(p, (hub) => PubSub.end(hub, v)),
    pShutdown: (p) => on(p, PubSub.shutdown),
    pSize: (p) => on(p, PubSub.size),
    pFull: (p) => on(p, PubSub.isFull),
    pEmpty: (p) => on(p, PubSub.isEmpty),
    pAwait: (p) => on(p, PubSub.awaitShutdown),
    // Each subscription has a scope of its own, so that it can be closed.
    subscribe: (p, s) =>
      on(p, (hub) =>
        Effect.flatMap(Scope.make(), (scope) => {
          named.set(`${s}.scope`, scope)
          return bind(s, Effect.provideService(PubSub.subscribe(hub), Scope.Scope, scope))
        })),
    unsubscribe: (s) => on(`${s}.scope`, (scope) => Scope.close(scope, Exit.void)),
    sTake: (s) => on(s, PubSub.take),
    sTakeAll: (s) => on(s, PubSub.takeAll),
    sTakeUpTo: (s, n) => on(s, (sub) => PubSub.takeUpTo(sub, n)),
    sTakeBetween: (s, a, b) => on(s, (sub) => PubSub.takeBetween(sub, a, b)),
    sRemaining: (s) => on(s, PubSub.remaining),

    cached: (c, ttl, ms, results) =>
      Effect.suspend(() => bind(c, Effect.cachedInvalidateWithTTL(source(c, ms, results), ttl === "infinity" ? Duration.infinity : ttl))),
    cachedFor: (c, good, bad, ms, results) =>
      Effect.suspend(() => bind(c, Effect.cachedInvalidateWithTTL(source(c, ms, results), (exit) => exit._tag === "Success" ? good : bad))),
    get: (c) => on(c, ([get]) => get),
    invalidate: (c) => on(c, ([_, invalidate]) => invalidate),

    ref: (r, v, ms, how) =>
      Effect.flatMap(Scope.make(), (scope) => {
        named.set(`${r}.scope`, scope)
        return bind(r, Effect.provideService(ScopedRef.fromAcquire(acquire(v, ms, how)), Scope.Scope, scope))
      }),
    rGet: (r) => on(r, ScopedRef.get),
    rSet: (r, v, ms, how) => on(r, (ref) => ScopedRef.set(ref, acquire(v, ms, how))),
    rClose: (r) => on(`${r}.scope`, (scope) => Scope.close(scope, Exit.void)),

    yield: () => Effect.yieldNow,
    sleep: (ms) => Effect.sleep(ms),
    kill: (i) => on(`fiber${i}`, Fiber.interrupt),
    signal: (i) => on(`fiber${i}`, (fiber) => Effect.sync(() => fiber.interruptUnsafe())),
    timeout: (ms, op) => Effect.timeoutOption(compile(op), ms),
    mask: (op) => Effect.uninterruptible(compile(op)),
    race: (a, b) => Effect.race(compile(a), compile(b))
  }
  const compile = ([name, ...args]) => ops[name](...args.map(number))
  const logged = (label, op) =>
    Effect.flatMap(Effect.exit(compile(op)), (exit) => log(`${label}:${op[0]}:${exitText(exit)}`))

  const body = (i, { ops }) => {
    let effect = Effect.void
    ops.forEach((op, j) => {
      const before = effect
      effect = Effect.andThen(before, logged(`${i}.${j}`, op))
    })
    return Effect.onExit(effect, (exit) => log(`${i}:${exitText(exit)}`))
  }
  const main = Effect.gen(function*() {
    for (const op of program.setup) yield* compile(op)
    for (const [i, fiber] of program.fibers.entries()) {
      named.set(`fiber${i}`, yield* Effect.forkDetach(body(i, fiber), { startImmediately: fiber.now === true }))
    }
  })
  const context = Context.empty().pipe(Context.add(Scheduler.Scheduler, world.scheduler), Context.add(Clock.Clock, world.clock))
  Effect.runForkWith(context)(main).addObserver((exit) => world.log(`main:${exitText(exit)}`))
  world.run()
  return { ...program, trace: world.endless ? ["endless"] : world.trace, now: world.time }
}

const out = []
for (const line of fs.readFileSync(0, "utf8").split("\n")) {
  if (line !== "") out.push(JSON.stringify(run(JSON.parse(line))))
}
fs.writeSync(1, out.join("\n") + "\n")
