// Values, exits and causes as the text that traces are made of.
import { Cause, Exit, Option } from "effect"

/** A value as plain JSON data; whatever has no form of its own (a fiber, a context, a duration) counts as no value. */
export const plain = (value) => {
  switch (typeof value) {
    case "number":
    case "string":
    case "boolean":
      return value
    case "object":
      if (value === null) return null
      if (Array.isArray(value)) return value.map(plain)
      if (Option.isOption(value)) return Option.isNone(value) ? ["none"] : ["some", plain(value.value)]
      return null
    default:
      return null
  }
}

export const text = (value) => JSON.stringify(plain(value))

/** The tag of a failure: of an error value, or the value itself where a program failed with plain data. */
export const tagOf = (error) => {
  if (typeof error === "object" && error !== null && typeof error._tag === "string") return error._tag
  return plain(error)
}

export const messageOf = (defect) => {
  if (defect instanceof Error && typeof defect._tag !== "string") {
    // The rest of this message names the key, which differs between languages.
    return defect.message.startsWith("Service not found") ? "Service not found" : defect.message
  }
  return tagOf(defect)
}

export const causeData = (cause) =>
  cause.reasons.map((reason) => {
    if (Cause.isFailReason(reason)) return ["fail", tagOf(reason.error)]
    if (Cause.isDieReason(reason)) return ["die", messageOf(reason.defect)]
    return ["interrupt"]
  })

export const causeText = (cause) => JSON.stringify(causeData(cause))

export const exitData = (exit) =>
  Exit.isSuccess(exit) ? { success: plain(exit.value) } : { failure: causeData(exit.cause) }

export const exitText = (exit) => JSON.stringify(exitData(exit))
