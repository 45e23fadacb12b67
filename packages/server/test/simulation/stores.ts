// The engines that days are simulated on: a database of its own on PostgreSQL, or an embedded one.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@trunkline/core/ports/store'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { sql } from 'kysely'
import { buildStore, type Engine, openEngine, openStore, type StoreSettings } from '../../src/store/index.ts'
import type { FenceOf } from '../../src/store/writes/fences.ts'
import { testDeps } from '../store/deps.ts'
import { copyStore } from '../store/template.ts'
import type { Grounds } from './run-seeds.ts'

export interface OpenedStore extends AsyncDisposable {
  /** For one process: all days share the store. */
  readonly alone: Grounds
}

export interface OpenedNodes extends AsyncDisposable {
  readonly of: (machines: number) => Grounds
}

/** A database of several nodes. */
export interface NodesDatabase {
  /** The store of one process, whose writes carry these fences. */
  open(fenceOf: FenceOf): Store
  /** The fence of the partition, from now on. */
  raise(partition: number, fence: number): Promise<void>
  /** No partition was ever owned. */
  reset(): Promise<void>
}

/** As many databases as were asked for. */
interface Place extends AsyncDisposable {
  readonly settings: readonly StoreSettings[]
}

const ENGINES = { postgres: onPostgres, embedded: onEmbedded } as const
export type EngineName = keyof typeof ENGINES

export async function openAlone(engine: EngineName): Promise<OpenedStore> {
  const place = await ENGINES[engine](1)
  const store = await openStore(given(place.settings, 0), testDeps())
  return {
    alone: () => ({ store, machines: 1, nodes: null }),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    }
  }
}

/** Several databases, one for each worker. */
export async function openNodes(engine: EngineName, workers: number): Promise<OpenedNodes> {
  const place = await ENGINES[engine](workers)
  const databases = await Promise.all(place.settings.map(openDatabase))
  return {
    of: machines => worker => {
      const { store, database } = given(databases, worker)
      return { store, machines, nodes: database }
    },
    async [Symbol.asyncDispose]() {
      for (const { store } of databases) await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    }
  }
}

async function openDatabase(settings: StoreSettings): Promise<{ readonly store: Store; readonly database: NodesDatabase }> {
  await (await openStore(settings, testDeps()))[Symbol.asyncDispose]()
  const engine = await openEngine(settings, testDeps())
  return { store: buildStore(engine, testDeps()), database: nodesDatabase(engine) }
}

/** The stores of the nodes end with the database. */
function nodesDatabase(engine: Engine): NodesDatabase {
  return {
    open: fenceOf => buildStore(engine, { ...testDeps(), fenceOf }),
    async raise(partition, fence) {
      await sql`update partitions set fence = ${fence} where partition = ${partition}`.execute(engine.db)
    },
    async reset() {
      await sql`update partitions set fence = 0 where fence > 0`.execute(engine.db)
    }
  }
}

async function onPostgres(count: number): Promise<Place> {
  const cluster = await sharedPostgres()
  const databases = await Promise.all(Array.from({ length: count }, () => createDatabase(cluster.url)))
  return {
    settings: databases.map(({ url }) => ({ kind: 'postgres', url, poolMax: 8 })),
    async [Symbol.asyncDispose]() {
      for (const database of databases) await database.drop()
      await cluster.stop()
    }
  }
}

async function onEmbedded(count: number): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-simulation-'))
  const dataDirs = Array.from({ length: count }, (_, index) => join(directory, `data-${index + 1}`))
  for (const dataDir of dataDirs) await copyStore(dataDir)
  return {
    settings: dataDirs.map(dataDir => ({ kind: 'embedded', dataDir })),
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true })
  }
}

function given<T>(list: readonly T[], index: number): T {
  const item = list[index]
  if (item === undefined) throw new Error(`there is no database ${index + 1}`)
  return item
}
