import { createDatabase, startPostgres } from '/work/main/packages/testkit/src/postgres/index.ts'
import { openStore } from '/work/main/packages/server/src/store/index.ts'
import { testDeps } from '/work/main/packages/server/test/store/deps.ts'
import { runSeed } from './run-seed.ts'
import { SABOTAGES } from './sabotage.ts'
const cluster = await startPostgres()
const database = await createDatabase(cluster.url)
const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 8 }, testDeps())
for (const [name, sabotage] of Object.entries(SABOTAGES)) {
  const found: string[] = []
  const seeds = Array.from({ length: 24 }, (_, i) => 1 + i)
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (let s = seeds.shift(); s !== undefined; s = seeds.shift()) await runSeed(store, s, { sabotage }).catch(e => found.push(`${s}: ${String(e.cause?.message ?? e).split('\n')[0].slice(0, 90)}`))
  }))
  console.log(`${found.length}/24 ${name}\n     ${found.slice(0, 3).join('\n     ')}`)
}
await store[Symbol.asyncDispose](); await database.drop(); await cluster.stop()
