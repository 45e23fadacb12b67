// The store contract on both engines.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { Store } from '@trunkline/core/ports/store'
import { createDatabase, separateRoles, sharedPostgres } from '@trunkline/testkit/postgres/index'
import type { StoreHarness } from '@trunkline/testkit/store-contract/harness'
import { storeContract } from '@trunkline/testkit/store-contract/index'
import { CompiledQuery } from 'kysely'
import { buildStore, type Engine, openEngine, type StoreSettings } from '../../src/store/index.ts'
import { migrate } from '../../src/store/migrate.ts'
import { grantTo, roleOf } from '../../src/store/roles.ts'
import { testDeps } from './deps.ts'
import { copyStore } from './template.ts'

/** `owner`: who owns the schema, where that is another role than the store's. */
async function harnessOf(settings: StoreSettings, cleanUp: () => Promise<void>, owner: Engine | null = null): Promise<StoreHarness> {
  const deps = testDeps()
  const engine = await openEngine(settings, deps)
  await migrate((owner ?? engine).db, deps)
  if (owner !== null) await grantTo(owner.db, await roleOf(engine.db))
  const store = buildStore(engine, deps)
  const beside = settings.kind === 'postgres' ? buildStore(await openEngine(settings, deps), deps) : store
  return {
    store: owner === null ? store : pruningAs(owner, store),
    beside: owner === null ? beside : pruningAs(owner, beside),
    sql: (text, parameters = []) => sql(owner ?? engine, text, parameters),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await beside[Symbol.asyncDispose]()
      await owner?.db.destroy()
      await cleanUp()
    }
  }
}

const LONG_AGO = parseTimestamp('2000-01-01T00:00:00Z', 'time')

/**
 * The store, but for the erasing of events, which the contract cases do at times of their own: another role may erase only what is a day
 * old.
 */
function pruningAs(owner: Engine, store: Store): Store {
  const { events } = store
  const { events: owners } = buildStore(owner, testDeps())
  return {
    ...store,
    events: {
      read: (userKey, after, limit, bytesMax) => events.read(userKey, after, limit, bytesMax),
      lasts: userKeys => events.lasts(userKeys),
      span: userKey => events.span(userKey),
      last: userKey => events.last(userKey),
      async prune(at, limit) {
        // The store's own part in it: that it may, and that it is open.
        await events.prune(LONG_AGO, limit)
        return owners.prune(at, limit)
      }
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
  // With as few rights as the service may have: what it needs more is noticed here.
  const roles = await separateRoles(cluster.url, database.url)
  const owner = await openEngine({ kind: 'postgres', url: roles.ownerUrl, poolMax: 2 }, testDeps())
  const cleanUp = async () => {
    await database.drop()
    await roles.drop()
    await cluster.stop()
  }
  return harnessOf({ kind: 'postgres', url: roles.serviceUrl, poolMax: 8 }, cleanUp, owner)
})

storeContract('the embedded engine', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'trunkline-store-'))
  const dataDir = join(directory, 'data')
  await copyStore(dataDir)
  return harnessOf({ kind: 'embedded', dataDir }, () => rm(directory, { recursive: true }))
})
