// Writes the exports of effect's modules as JSON: node exports.mjs DIR, where
// DIR holds node_modules/effect. Values are what the module object has; types
// are what its declarations export beside them.
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const root = join(resolve(process.argv[2] ?? "."), "node_modules", "effect")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const modules = [
  "Effect", "Scope", "Exit", "Cause", "Fiber", "Deferred", "Semaphore", "Latch", "Queue",
  "Schedule", "Layer", "FiberMap", "FiberSet", "FiberHandle", "Ref", "ScopedRef", "PubSub", "Cron", "Random"
]
const out = {}
for (const name of modules) {
  const values = Object.keys(await import(pathToFileURL(join(root, "dist", `${name}.js`)))).sort()
  const text = readFileSync(join(root, "dist", `${name}.d.ts`), "utf8")
  const types = new Set()
  for (const [, type] of text.matchAll(/^export (?:declare )?(?:interface|type|namespace|class) (\w+)/gm)) {
    if (!values.includes(type)) types.add(type)
  }
  out[name] = { values, types: [...types].sort() }
}
console.log(JSON.stringify({ effect: version, modules: out }, null, 1))
