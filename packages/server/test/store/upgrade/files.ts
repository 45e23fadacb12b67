// The migrations that landed, by their checksums, and the data sets of released schemas.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CompiledQuery, type Kysely } from 'kysely'
import type { Database } from '../../../src/store/database.ts'
import type { Migration } from '../../../src/store/migrate.ts'
import type { Keys } from './data-set.ts'

const FOLDER = fileURLToPath(new URL('./', import.meta.url))
const LANDED = `${FOLDER}landed.txt`
const DATA_SET = /^schema-(\d{4})\.sql$/

/** Rows as they were at one schema, a statement a line, and what a store read of them when they were written. */
export interface DataSet {
  /** The number of the newest migration of that schema. */
  readonly schema: number
  readonly statements: readonly string[]
  readonly read: { readonly keys: Keys; readonly records: object }
}

/** The line a migration has in the list. */
export function lineOf({ number, name, checksum }: Migration): string {
  return `${checksum}  ${String(number).padStart(4, '0')}-${name}`
}

export function landed(): readonly string[] {
  return readFileSync(LANDED, 'utf8')
    .split('\n')
    .filter(line => line !== '')
}

export function writeLanded(lines: readonly string[]): void {
  writeFileSync(LANDED, lines.map(line => `${line}\n`).join(''))
}

export function dataSets(): readonly DataSet[] {
  return readdirSync(FOLDER)
    .sort()
    .flatMap(file => {
      const [, digits] = DATA_SET.exec(file) ?? []
      if (digits === undefined) return []
      const statements = readFileSync(`${FOLDER}${file}`, 'utf8').split('\n')
      return { schema: Number(digits), statements: statements.filter(line => line !== ''), read: readJson(digits) }
    })
}

export function writeDataSet({ schema, statements, read }: DataSet): void {
  const path = `${FOLDER}schema-${String(schema).padStart(4, '0')}`
  writeFileSync(`${path}.sql`, statements.map(line => `${line}\n`).join(''))
  writeFileSync(`${path}.json`, `${JSON.stringify(read, null, 2)}\n`)
}

/** JSON as the files have it: bytes become an object of their own, and members without a value are left out. */
export function plain(value: unknown): object {
  return JSON.parse(
    JSON.stringify(value, (_, member) => (member?.type === 'Buffer' ? { bytes: Buffer.from(member).toString('hex') } : member))
  )
}

// Schemas whose rows are the same have one file, that of the last of them.
function readJson(digits: string): DataSet['read'] {
  const file = readdirSync(FOLDER)
    .sort()
    .find(name => name.endsWith('.json') && name >= `schema-${digits}`)
  return JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8'))
}

/** A foreign key from one table to another. */
interface Reference {
  readonly of: string
  readonly to: string
}

/** Every row of the database as the statement that inserts it, in an order that its foreign keys allow. */
export async function dump(db: Kysely<Database>): Promise<readonly string[]> {
  const rows = async (text: string) => (await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text))).rows
  // An identity column is numbered again by the inserts, which is why they keep its order.
  const tables = await rows(`select c.table_name,
      string_agg(c.column_name, ',' order by c.ordinal_position) filter (where c.is_identity = 'NO') as columns,
      coalesce(min(c.column_name) filter (where c.is_identity = 'YES'), '1') as rank
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and c.table_name not in ('schema_migrations', 'probes', 'audit_head', 'members', 'partitions') group by c.table_name`)
  const byName = new Map(
    tables.map(({ table_name: name, columns, rank }) => [String(name), { columns: String(columns), rank: String(rank) }])
  )
  const references = await rows(`select conrelid::regclass::text as of, confrelid::regclass::text as to
    from pg_constraint where contype = 'f' and conrelid <> confrelid`)
  const statements: string[] = []
  for (const table of inOrder(
    [...byName.keys()],
    references.map(({ of, to }) => ({ of: String(of), to: String(to) }))
  )) {
    const { columns = '', rank = '1' } = byName.get(table) ?? {}
    const values = columns.split(',').map(() => '%L')
    const texts = columns.split(',').map(column => `${column}::text`)
    const inserted =
      await rows(`select format('insert into ${table} (${columns}) values (${values.join(', ')})', ${texts.join(', ')}) as line
      from ${table} order by ${rank}`)
    statements.push(...inserted.map(({ line }) => String(line)))
  }
  const [head] = await rows(
    `select format('update audit_head set position = %L, hash = %L', position::text, hash::text) as line from audit_head`
  )
  return [...statements, String(head?.line)]
}

// What others refer to comes first; the rest by name.
function inOrder(tables: readonly string[], references: readonly Reference[]): readonly string[] {
  const ordered: string[] = []
  let left = tables.toSorted()
  while (left.length > 0) {
    const isFree = (table: string) => !references.some(({ of, to }) => of === table && left.includes(to))
    const free = left.filter(isFree)
    assert.ok(free.length > 0, `tables refer to each other in a circle: ${left.join(', ')}`)
    ordered.push(...free)
    left = left.filter(table => !free.includes(table))
  }
  return ordered
}
