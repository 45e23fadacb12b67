// The engines that days are simulated on: a database of its own on PostgreSQL, or an embedded one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@trunkline/core/ports/store'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { openStore } from '../../src/store/index.ts'
import { testDeps } from '../store/deps.ts'
import { copyStore } from '../store/template.ts'

export interface OpenedStore extends AsyncDisposable {
  readonly store: Store
}

export const ENGINES: Readonly<Record<'postgres' | 'embedded', () => Promise<OpenedStore>>> = {
  async postgres() {
    const cluster = await sharedPostgres()
    const database = await createDatabase(cluster.url)
    const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 8 }, testDeps())
    return opened(store, async () => {
      await database.drop()
      await cluster.stop()
    })
  },

  async embedded() {
    const directory = mkdtempSync(join(tmpdir(), 'trunkline-simulation-'))
    const dataDir = join(directory, 'data')
    await copyStore(dataDir)
    const store = await openStore({ kind: 'embedded', dataDir }, testDeps())
    return opened(store, async () => rmSync(directory, { recursive: true, force: true }))
  }
}

function opened(store: Store, cleanUp: () => Promise<void>): OpenedStore {
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await cleanUp()
    }
  }
}
