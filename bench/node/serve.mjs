// Answers each line {"case", "ms", "warm"} with {"ns"}: what a unit of the case's work
// took, measured for about as long, after it ran for "warm" ms.
import { createInterface } from "node:readline"
import { cases } from "./cases.mjs"

// By case: how many iterations were last enough.
const known = new Map()

async function once(work, n) {
  globalThis.gc?.()
  const from = process.hrtime.bigint()
  const own = await work(n)
  return typeof own === "number" ? own : Number(process.hrtime.bigint() - from)
}

async function sample(name, ms) {
  const it = cases[name]
  if (it === undefined) throw new Error(`no case ${name}`)
  const target = ms * 1e6
  let n = known.get(name) ?? 1
  for (;;) {
    const took = await once(it.work, n)
    const best = Math.max(1, Math.round(Math.min(n * 10, (n * target) / took)))
    if (took >= target / 2) {
      known.set(name, best)
      return took / n / (it.per ?? 1)
    }
    n = Math.max(n + 1, best)
  }
}

// Runs the case for so long, for the compiler; its first runs say nothing.
async function warm(name, ms) {
  const until = performance.now() + ms
  while (performance.now() < until) await sample(name, ms / 20)
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer
  try {
    const { case: name, ms, warm: first } = JSON.parse(line)
    if (first > 0) await warm(name, first)
    answer = { ns: await sample(name, ms) }
  } catch (error) {
    answer = { error: String(error?.stack ?? error) }
  }
  process.stdout.write(JSON.stringify(answer) + "\n")
}
