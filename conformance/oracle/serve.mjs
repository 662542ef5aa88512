// node oracle/serve.mjs [LIMIT]: reads one program (JSON) per line, writes one result (JSON) per line, in the same order.
// Ends when its input does.
import { createInterface } from "node:readline"
import { runProgram } from "./interpret.mjs"
import { defaultLimit } from "./world.mjs"

const limit = Number(process.argv[2] ?? defaultLimit)

const answer = (line) => {
  try {
    return runProgram(JSON.parse(line), limit)
  } catch (error) {
    return { error: `oracle: ${error}` }
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line.trim() === "") continue
  process.stdout.write(`${JSON.stringify(answer(line))}\n`)
}
