// The store contract on both engines.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { type StoreHarness, storeContract } from '@trunkline/testkit/store-contract/index'
import { CompiledQuery } from 'kysely'
import { buildStore, type Engine, openEngine, type StoreSettings } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrate.ts'
import { testDeps } from './deps.ts'

async function harnessOf(settings: StoreSettings, cleanUp: () => Promise<void>): Promise<StoreHarness> {
  const deps = testDeps()
  const engine = await openEngine(settings, deps)
  await migrate(engine.db, deps)
  const store = buildStore(engine, deps)
  const beside = settings.kind === 'postgres' ? buildStore(await openEngine(settings, deps), deps) : store
  return {
    store,
    beside,
    sql: (text, parameters = []) => sql(engine, text, parameters),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await beside[Symbol.asyncDispose]()
      await cleanUp()
    }
  }
}

async function sql({ db }: Engine, text: string, parameters: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await db.executeQuery(CompiledQuery.raw(text, [...parameters]))
  return rows.map(row => Object.fromEntries(Object.entries(row ?? {})))
}

storeContract('PostgreSQL', async () => {
  const cluster = await sharedPostgres()
  const database = await createDatabase(cluster.url)
  return harnessOf({ kind: 'postgres', url: database.url, poolMax: 8 }, async () => {
    await database.drop()
    await cluster.stop()
  })
})

storeContract('the embedded engine', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-store-'))
  return harnessOf({ kind: 'embedded', dataDir }, () => rm(dataDir, { recursive: true }))
})
