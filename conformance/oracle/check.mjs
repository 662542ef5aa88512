// node oracle/check.mjs [FOLDER]: runs every vector of a folder's *.json and compares trace, exit and time.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { runProgram } from "./interpret.mjs"

const folder = process.argv[2] ?? process.env.EFFECT_VECTORS ?? new URL("../testdata", import.meta.url).pathname
let [passed, total] = [0, 0]
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
  for (const { expect, name, program } of JSON.parse(readFileSync(join(folder, file), "utf8"))) {
    total++
    const { error, exit, now, trace } = runProgram(program)
    const got = JSON.stringify(error === undefined ? { trace, exit, now } : { error })
    const want = JSON.stringify({ trace: expect.trace, exit: expect.exit, now: expect.now })
    if (got === want) passed++
    else if (total - passed <= 10) {
      console.log(`${name}\n  program ${JSON.stringify(program)}\n  want ${want}\n  got  ${got}`)
    }
  }
}
console.log(`vectors: ${passed} passed of ${total}`)
process.exitCode = passed === total && total > 0 ? 0 : 1
