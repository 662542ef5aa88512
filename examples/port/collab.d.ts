// What indexer.ts uses of @rivus/agent-kit and @rivus/agent-kit-collab, for the type
// checker: the packages need not be there.

declare module "@rivus/agent-kit/node/effect" {
  import type { Layer } from "effect"
  export interface Platform { readonly _: unique symbol }
  export const NodePlatformLive: Layer.Layer<Platform>
}

declare module "@rivus/agent-kit-collab/lease" {
  import type { Platform } from "@rivus/agent-kit/node/effect"
  import type { Effect, Layer, Scope } from "effect"
  export interface LeaseRepository { readonly _: unique symbol }
  export interface FencingToken { readonly key: string; readonly generation: number }
  export interface LeaseHeld { readonly _tag: "LeaseHeld"; readonly key: string; readonly holder: { readonly pid: number } }
  export interface LeaseLost { readonly _tag: "LeaseLost"; readonly key: string; readonly reason: string }
  export interface FenceRejected { readonly _tag: "FenceRejected" }
  export interface LeaseConfigInvalid { readonly _tag: "LeaseConfigInvalid" }
  export interface LeaseRepositoryFailure { readonly _tag: "LeaseRepositoryFailure" }
  export interface LeaseHandle {
    readonly token: FencingToken
    readonly lost: Effect.Effect<never, LeaseLost>
    readonly runFenced: <A, E, R>(
      work: (token: FencingToken) => Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | LeaseLost | FenceRejected | LeaseRepositoryFailure, R>
  }
  export interface LeaseManager {
    readonly acquire: (
      key: string,
      options?: { readonly wait?: boolean }
    ) => Effect.Effect<LeaseHandle, LeaseHeld | LeaseRepositoryFailure, Scope.Scope>
  }
  export const createLeaseManager: (config: {
    readonly ttlMs: number
    readonly heartbeatMs: number
  }) => Effect.Effect<LeaseManager, LeaseConfigInvalid, LeaseRepository | Platform>
  export const sqliteLeaseRepository: (options: {
    readonly path: string
  }) => Layer.Layer<LeaseRepository, never, Platform>
}

declare module "@rivus/agent-kit-collab/lanes" {
  import type { Cause, Effect, Scope } from "effect"
  export type ActivationExit =
    | { readonly _tag: "ActivationSucceeded"; readonly lane: string }
    | { readonly _tag: "ActivationFailed"; readonly lane: string; readonly cause: Cause.Cause<unknown> }
    | { readonly _tag: "ActivationInterrupted"; readonly lane: string; readonly reason: string }
  export interface Lanes {
    readonly wake: (
      key: string
    ) => Effect.Effect<"started" | "queued" | "coalesced", { readonly _tag: "LaneQueueFull" } | { readonly _tag: "LanesClosed" }>
    readonly cancel: (key: string) => Effect.Effect<void>
  }
  export const createLanes: <E, R, R2>(config: {
    readonly maxConcurrent: number
    readonly maxQueued?: number
    readonly turnTimeoutMs?: number
    readonly activate: (key: string) => Effect.Effect<unknown, E, R>
    readonly onExit: (exit: ActivationExit) => Effect.Effect<void, never, R2>
  }) => Effect.Effect<Lanes, { readonly _tag: "LanesConfigInvalid" }, Exclude<R, Scope.Scope> | R2 | Scope.Scope>
}
