import { NodePlatformLive } from "@rivus/agent-kit/node/effect"
import { createLanes, type ActivationExit } from "@rivus/agent-kit-collab/lanes"
import { createLeaseManager, type LeaseHandle, sqliteLeaseRepository } from "@rivus/agent-kit-collab/lease"
import { Context, Data, Deferred, Effect, Layer, Ref, Schedule, type Scope } from "effect"

// 1. Failures
export class Gone extends Data.TaggedError("Gone")<{ readonly document: string }> {}

export class Slow extends Data.TaggedError("Slow")<{ readonly document: string }> {}

// 2. Services
export class Library extends Context.Service<Library, {
  readonly read: (document: string) => Effect.Effect<string, Gone | Slow>
}>()("Library") {}

export interface Entry {
  readonly document: string
  readonly words: number
  readonly by: number
}

export interface Sink {
  readonly append: (entry: Entry) => Effect.Effect<void>
  readonly close: Effect.Effect<void>
}

export class Journal extends Context.Service<Journal, { readonly open: Effect.Effect<Sink> }>()("Journal") {}

// 3. A resource of the scope at hand
const sink: Effect.Effect<Sink, never, Journal | Scope.Scope> = Effect.gen(function*() {
  const journal = yield* Journal
  return yield* Effect.acquireRelease(journal.open, (sink) => sink.close)
})

// 4. Retries and timeouts
const read = (document: string) =>
  Effect.gen(function*() {
    const library = yield* Library
    return yield* library.read(document).pipe(
      Effect.retry({
        schedule: Schedule.exponential("100 millis"),
        times: 3,
        while: (error) => error._tag === "Slow"
      }),
      Effect.timeout("5 seconds")
    )
  })

// 5. Work under the fence
const index = (lease: LeaseHandle, out: Sink, document: string) =>
  Effect.gen(function*() {
    const text = yield* read(document)
    const words = text.split(/\s+/).filter((word) => word !== "").length
    yield* lease.runFenced((token) => out.append({ document, words, by: token.generation }))
  })

// 6. What became of each document
export interface Report {
  readonly indexed: ReadonlyArray<string>
  readonly failed: ReadonlyArray<string>
}

const note = (report: Report, exit: ActivationExit): Report =>
  exit._tag === "ActivationSucceeded"
    ? { ...report, indexed: [...report.indexed, exit.lane] }
    : { ...report, failed: [...report.failed, exit.lane] }

// 7. The program
// The documents differ, and there is at least one.
export const indexAll = (documents: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const leases = yield* createLeaseManager({ ttlMs: 60_000, heartbeatMs: 15_000 })
    const lease = yield* leases.acquire("index")
    const out = yield* sink
    const report = yield* Ref.make<Report>({ indexed: [], failed: [] })
    const done = yield* Deferred.make<void>()
    const lanes = yield* createLanes({
      maxConcurrent: 2,
      turnTimeoutMs: 30_000,
      activate: (document) => index(lease, out, document),
      onExit: (exit) =>
        Effect.gen(function*() {
          const now = yield* Ref.updateAndGet(report, (report) => note(report, exit))
          if (now.indexed.length + now.failed.length === documents.length) {
            yield* Deferred.succeed(done, undefined)
          }
        })
    })
    yield* Effect.forEach(documents, (document) => lanes.wake(document), { discard: true })
    yield* Deferred.await(done).pipe(Effect.raceFirst(lease.lost))
    return yield* Ref.get(report)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("LeaseHeld", (held) =>
      Effect.as(Effect.logInfo(`${held.holder.pid} does it`), { indexed: [], failed: [] } as Report))
  )

// 8. Layers, at the edge
export const LeaseLive = (path: string) =>
  sqliteLeaseRepository({ path }).pipe(Layer.provideMerge(NodePlatformLive))
