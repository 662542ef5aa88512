// node oracle/check.mjs [FOLDER]: runs every vector of a folder's *.json and *.json.gz and compares trace, exit and time.
// Without a folder, that of the environment variable EFFECT_VECTORS, or the recorded vectors of package effect.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { runProgram } from "./interpret.mjs"

const folder = process.argv[2] ?? process.env.EFFECT_VECTORS ?? fileURLToPath(new URL("../../effect/testdata/vectors", import.meta.url))
const read = (file) => {
  const bytes = readFileSync(join(folder, file))
  return JSON.parse(file.endsWith(".gz") ? gunzipSync(bytes) : bytes)
}

let [passed, total] = [0, 0]
for (const file of readdirSync(folder).filter((name) => /\.json(\.gz)?$/.test(name)).sort()) {
  for (const { expect, name, program } of read(file)) {
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
