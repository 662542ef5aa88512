// Records what effect@4.1.0's Cron does, as the data of TestCronIsEffects:
//
//	node cron.mjs FOLDER-WITH-node_modules SEED COUNT | gzip -9n > ../cron.json.gz
import { pathToFileURL } from "node:url"
import { resolve } from "node:path"

const [folder, seedText, countText] = process.argv.slice(2)
const load = (name) => import(pathToFileURL(resolve(folder, "node_modules/effect/dist", name + ".js")))
const Cron = await load("Cron")
const Result = await load("Result")

let state = BigInt(seedText)
const random = (n) => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
  return Number((state >> 33n) % BigInt(n))
}
const pick = (...list) => list[random(list.length)]
const between = (a, b) => a + random(b - a + 1)

const fields = [[0, 59], [0, 59], [0, 23], [1, 31], [1, 12], [0, 7]]
const names = {
  4: ["JAN", "feb", "Mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
  5: ["sun", "MON", "tue", "wed", "thu", "fri", "Sat"]
}
const value = (i, [min, max]) => names[i] && random(4) === 0 ? pick(...names[i]) : String(between(min, max))
const item = (i, [min, max]) => {
  switch (random(7)) {
    case 0:
      return "*/" + between(1, Math.min(max, 20))
    case 1: {
      const a = between(min, max)
      return `${a}-${between(a, max)}`
    }
    case 2: {
      const a = between(min, max)
      return `${a}-${between(a, max)}/${between(1, 5)}`
    }
    case 3:
      return value(i, [min, max]) + "/" + between(1, Math.min(max, 20))
    default:
      return value(i, [min, max])
  }
}
const stars = [1, 4, 3, 6, 7, 6]
const field = (i) => {
  if (random(10) < stars[i]) return "*"
  const list = [item(i, fields[i])]
  while (random(3) === 0) list.push(random(9) === 0 ? "*" : item(i, fields[i]))
  return list.join(",")
}
const noise = ["", "*", "/", "-", ",", "60", "0", "1-", "-1", "*/0", "*/x", "5/3/2", "jan", "SUN", "mon-fri", "5-1", "99999999999999999999", "1.5", "+1", "０", "?", "1--2", "*,1", "1,*", "*/1,3", "7", "7-7", "fri-7", "24", "*-3"]
const expression = () => {
  const parts = []
  for (let i = random(3) === 0 ? 0 : 1; i < 6; i++) parts.push(field(i))
  if (random(4) === 0) parts[random(parts.length)] = pick(...noise)
  if (random(30) === 0) parts.pop()
  return (random(20) === 0 ? "  " : "") + parts.join(random(20) === 0 ? " \t " : " ")
}

const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca", "+02:00", "GMT-0330", "+1", "No/Where", "Asia/Tehran"]
// Moments around changes of the clocks, and any other.
const changes = [
  "2024-03-31T01:00:00Z", "2024-10-27T01:00:00Z", "2025-03-09T07:00:00Z", "2025-11-02T06:00:00Z",
  "2024-04-06T15:00:00Z", "2024-10-05T15:30:00Z", "2011-12-30T10:00:00Z", "2025-03-09T05:30:00Z", "2025-11-02T04:30:00Z",
  "2024-02-29T00:00:00Z", "2023-12-31T23:59:59Z", "1969-12-31T23:59:59Z", "2022-09-21T19:30:00Z"
].map((s) => Date.parse(s))
const moment = () => {
  if (random(3) === 0) return between(0, 2_000_000_000) * 1000 + (random(2) ? random(1000) : 0)
  return pick(...changes) + between(-4 * 3600, 4 * 3600) * 1000 + (random(4) === 0 ? random(1000) : 0)
}

const step = (f) => {
  try {
    return f().getTime()
  } catch {
    return null
  }
}

const out = []
for (let i = 0; i < Number(countText); i++) {
  const cron = expression()
  const zone = pick(...zones)
  const overlap = pick("earlier", "later", "both")
  const parsed = Cron.parse(cron, zone, { onDstOverlap: overlap })
  if (Result.isFailure(parsed)) {
    out.push({ cron, zone, overlap, ok: false })
    continue
  }
  const c = parsed.success
  const at = [moment(), moment(), moment(), moment()]
  out.push({
    cron, zone, overlap, ok: true,
    format: Cron.format(c, { includeSeconds: true }),
    short: Cron.format(c),
    at: at.map((now) => [now, step(() => Cron.next(c, now)), step(() => Cron.prev(c, now)), Cron.match(c, now)])
  })
}
console.log("[\n" + out.map((x) => JSON.stringify(x)).join(",\n") + "\n]")
