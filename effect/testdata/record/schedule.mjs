// Records what effect@4.1.0's schedules answer, as the data of
// TestSchedulesAreEffects:
//
//	node schedule.mjs FOLDER-WITH-node_modules SEED COUNT | gzip -9n > ../schedules.json.gz
import { pathToFileURL } from "node:url"
import { resolve } from "node:path"

const [folder, seedText, countText] = process.argv.slice(2)
const load = (name) => import(pathToFileURL(resolve(folder, "node_modules/effect/dist", name + ".js")))
const Schedule = await load("Schedule")
const Effect = await load("Effect")
const Duration = await load("Duration")
const Exit = await load("Exit")
const Cause = await load("Cause")
const Random = await load("Random")
const Result = await load("Result")

let state = BigInt(seedText)
const random = (n) => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
  return Number((state >> 33n) % BigInt(n))
}
const pick = (...list) => list[random(list.length)]
const between = (a, b) => a + random(b - a + 1)
const ms = () => pick(0, 1, 5, 7, 10, 20, 33, 50, 100)

const leaf = () => {
  switch (random(14)) {
    case 0:
      return ["forever"]
    case 1:
    case 2:
      return ["recurs", between(0, 5)]
    case 3:
      return ["once"]
    case 4:
      return ["identity"]
    case 5:
      return ["spaced", ms()]
    case 6:
      return ["windowed", ms()]
    case 7:
    case 8:
      return ["fixed", ms()]
    case 9:
      return ["exponential", ms(), pick(2, 1.5, 3, 0.5, 1, 10)]
    case 10:
      return ["fibonacci", ms()]
    case 11:
      return ["duration", ms()]
    case 12:
      return ["during", ms()]
    default:
      return ["cron", pick("*/2 * * * * *", "* * * * *", "61 * * * *")]
  }
}
const schedule = (depth) => {
  if (depth === 0 || random(4) === 0) return leaf()
  const inner = () => schedule(depth - 1)
  switch (random(15)) {
    case 0:
    case 1:
      return ["max", ...Array.from({ length: between(1, 3) }, inner)]
    case 2:
    case 3:
      return ["min", ...Array.from({ length: between(1, 3) }, inner)]
    case 4:
    case 5:
      return ["concat", inner(), inner()]
    case 6:
      return ["map", inner()]
    case 7:
      return ["whileInput", inner(), between(0, 4)]
    case 8:
      return ["whileElapsed", inner(), ms()]
    case 9:
      return ["whileAttempt", inner(), between(0, 5)]
    case 10:
      return ["upTo", inner(), pick(null, between(0, 4)), pick(null, ms())]
    case 11:
      return ["addDelay", inner(), ms()]
    case 12:
      return ["scaleDelay", inner(), pick(0, 2, 0.5)]
    case 13:
      return ["passthrough", inner()]
    default:
      return pick(["jittered", inner(), pick(0, 0.25, 0.5, 0.999)], ["tap", inner(), between(1, 4)], ["metadata", inner()])
  }
}

const fail = () => Effect.fail("tapped")
const build = ([op, ...a]) => {
  switch (op) {
    case "forever":
      return Schedule.forever
    case "recurs":
      return Schedule.recurs(a[0])
    case "once":
      return Schedule.once
    case "identity":
      return Schedule.identity()
    case "spaced":
    case "windowed":
    case "fixed":
    case "fibonacci":
    case "duration":
    case "during":
      return Schedule[op](a[0])
    case "exponential":
      return Schedule.exponential(a[0], a[1])
    case "cron":
      return Schedule.cron(a[0], "UTC")
    case "max":
    case "min":
      return Schedule[op](a.map(build))
    case "concat":
      return Schedule.concat(build(a[0]), build(a[1]))
    case "map":
      return Schedule.map(build(a[0]), (m) => ["mapped", plain(m.output), m.attempt, m.elapsed, Duration.toMillis(m.duration)])
    case "whileInput":
      return Schedule.while(build(a[0]), (m) => m.input !== a[1])
    case "whileElapsed":
      return Schedule.while(build(a[0]), (m) => Effect.succeed(m.elapsed <= a[1]))
    case "whileAttempt":
      return Schedule.while(build(a[0]), (m) => m.attempt <= a[1])
    case "upTo":
      return Schedule.upTo(build(a[0]), { times: a[1] ?? undefined, duration: a[2] ?? undefined })
    case "addDelay":
      return Schedule.addDelay(build(a[0]), () => Effect.succeed(a[1]))
    case "scaleDelay":
      return Schedule.modifyDelay(build(a[0]), (m) => Effect.succeed(Duration.toMillis(m.duration) * a[1]))
    case "passthrough":
      return Schedule.passthrough(build(a[0]))
    case "jittered":
      return Schedule.jittered(build(a[0])).pipe((s) => fixedRandom(s, a[1]))
    case "tap":
      return Schedule.tap(build(a[0]), (m) => m.attempt === a[1] ? fail() : Effect.void)
    case "metadata":
      return Schedule.map(build(a[0]), (m) => [m.attempt, m.start, m.now, m.elapsed, m.elapsedSincePrevious])
  }
}
const fixedRandom = (s, draw) =>
  Schedule.fromStep(Effect.map(Schedule.toStep(s), (step) => (now, input) =>
    Effect.provideService(step(now, input), Random.Random, { nextDoubleUnsafe: () => draw, nextIntUnsafe: () => 0 })))

const plain = (v) =>
  v === undefined ? null
    : Duration.isDuration(v) ? { ms: Duration.toMillis(v) }
    : Array.isArray(v) ? v.map(plain)
    : v
const exit = async (e) => Exit.match(await Effect.runPromiseExit(e), {
  onSuccess: ([output, delay]) => ({ output: plain(output), delay: Duration.toMillis(delay) }),
  onFailure: (cause) => {
    const error = cause.reasons[0].error
    if (Cause.isDone(error)) return { done: true, output: plain(error.value) }
    return { error: error._tag ?? error }
  }
})

const out = []
for (let i = 0; i < Number(countText); i++) {
  const s = schedule(between(0, 3))
  const step = await Effect.runPromise(Schedule.toStep(build(s)))
  const steps = []
  let now = between(0, 100000)
  for (let n = between(1, 8); n > 0; n--) {
    const input = random(5)
    const answer = await exit(step(now, input))
    steps.push({ now, input, ...answer })
    // Mostly on time, sometimes late or early.
    now += pick(answer.delay ?? 0, answer.delay ?? 0, (answer.delay ?? 0) + ms(), ms(), 1)
    now = Math.ceil(now)
  }
  out.push({ schedule: s, steps })
}
console.log("[\n" + out.map((x) => JSON.stringify(x)).join(",\n") + "\n]")
