/**
 * Writes until it is killed, and records in a file what was acknowledged as durable (a pipe could be full). `A n`: a transaction was
 * acknowledged; every row of it must survive. Transaction n writes one row to each of two tables, so that half a transaction shows; those
 * with n divisible by 5 are rolled back, and none of their rows may ever be visible.
 */
import { openSync, writeSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import type { EngineModule } from '../../src/engine-module.ts'
import { openEmbedded } from '../../src/index.ts'
import { install, type PowerCut } from './power-cut-hook.ts'
import { randomFrom } from './random.ts'

export interface WorkloadInput {
  readonly dataDir: string
  /** The file of acknowledgements, outside the data folder; appended to. */
  readonly notes: string
  /** durable: as this package runs it; stock: PGlite by itself, without fsync. */
  readonly mode: 'durable' | 'stock'
  readonly cut: PowerCut
  /** Transactions are numbered from here. */
  readonly from: number
}

/** The two engines behind one interface. */
interface Subject {
  exec(script: string): Promise<unknown>
  transaction(n: number, text: string, keep: boolean): Promise<void>
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (n int PRIMARY KEY, text text NOT NULL);
  CREATE TABLE IF NOT EXISTS mirror (n int PRIMARY KEY, text text NOT NULL);
  CREATE INDEX IF NOT EXISTS mirror_text ON mirror (text)`

const input: WorkloadInput = JSON.parse(process.argv[2] ?? 'null')
const notes = openSync(input.notes, 'a')
const note = (line: string): void => {
  writeSync(notes, `${line}\n`)
}
const random = randomFrom(input.cut.seed + 7)
const subject = input.mode === 'durable' ? await durable() : await stock()
await subject.exec(SCHEMA)
note('open')
let next = input.from
await Promise.all(Array.from({ length: 6 }, () => write()))

async function write(): Promise<never> {
  for (;;) {
    const n = next++
    const keep = n % 5 !== 0
    await subject.transaction(n, 'x'.repeat(Math.floor(random() * 600)), keep)
    if (keep) note(`A ${n}`)
    const dice = random()
    if (dice < 0.02) await subject.exec('CHECKPOINT')
    else if (dice < 0.03) await subject.exec(`CREATE TABLE IF NOT EXISTS extra_${n} (n int)`)
  }
}

async function durable(): Promise<Subject> {
  const hook = { module: new URL('./power-cut-hook.ts', import.meta.url).href, data: input.cut }
  const database = await openEmbedded({ dataDir: input.dataDir, maintenanceMs: 0, hook })
  return {
    exec: script => database.exec(script),
    async transaction(n, text, keep) {
      const transaction = database.transaction()
      await transaction.query('INSERT INTO entries VALUES ($1, $2)', [n, text])
      await transaction.query('INSERT INTO mirror VALUES ($1, $2)', [n, text])
      // Every other undone one fails by its own statement, in the middle of a group.
      if (!keep && n % 2 === 0) await transaction.query('INSERT INTO entries VALUES ($1, $2)', [n, text]).catch(() => undefined)
      await (keep ? transaction.commit() : transaction.rollback())
    }
  }
}

async function stock(): Promise<Subject> {
  class StockFs extends NodeFS {
    override async init(...[pglite, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
      const { emscriptenOpts } = await super.init(pglite, options)
      const hooked = (module: unknown): void => install(asEngine(module), { fsync: () => undefined }, input.cut)
      return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), hooked] } }
    }
  }
  const pglite = await PGlite.create({ fs: new StockFs(`${input.dataDir}/database`) })
  return {
    exec: script => pglite.exec(script),
    transaction: (n, text, keep) =>
      pglite.transaction(async transaction => {
        await transaction.query('INSERT INTO entries VALUES ($1, $2)', [n, text])
        await transaction.query('INSERT INTO mirror VALUES ($1, $2)', [n, text])
        if (!keep) await transaction.rollback()
      })
  }
}

function asEngine(module: unknown): EngineModule {
  const isEngine = (value: unknown): value is EngineModule => typeof value === 'object' && value !== null && 'NODEFS' in value
  if (isEngine(module)) return module
  throw new Error('PGlite has changed')
}
