import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyTemplate } from '../store/pglite/template.ts'
import { openStore } from '/work/main/packages/server/src/store/index.ts'
import { testDeps } from '/work/main/packages/server/test/store/deps.ts'
import { runSeed } from '/work/main/packages/server/test/simulation/run-seed.ts'
const [from, count, atOnce] = process.argv.slice(2).map(Number)
const directory = mkdtempSync(join(tmpdir(), 'trunkline-app-'))
await copyTemplate(join(directory, 'data'))
const store = await openStore({ kind: 'embedded', dataDir: join(directory, 'data') }, testDeps())
const seeds = Array.from({ length: count }, (_, i) => from + i)
const t = performance.now()
await Promise.all(Array.from({ length: atOnce }, async () => {
  for (let s = seeds.shift(); s !== undefined; s = seeds.shift()) {
    try { const r = await runSeed(store, s); if (process.env.HASH) console.log(r.seed, r.hash) } catch (e: any) { console.log(e.seed, e.message.slice(0, 300)) }
  }
}))
console.log(`${count} seeds in ${Math.round(performance.now() - t)} ms`)
await store[Symbol.asyncDispose](); rmSync(directory, { recursive: true })
