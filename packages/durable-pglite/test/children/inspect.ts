/** Opens a database after a power cut and prints what is in it. */
import { type EmbeddedDatabase, openEmbedded } from '../../src/index.ts'

export interface Inspection {
  readonly entries: readonly number[]
  readonly mirror: readonly number[]
  /** Whether an index scan and a table scan give the same rows. */
  readonly indexesAgree: boolean
}

const { dataDir }: { readonly dataDir: string } = JSON.parse(process.argv[2] ?? 'null')
await using database = await openEmbedded({ dataDir, maintenanceMs: 0 }).catch((error: Error) => {
  console.error(error.message)
  process.exit(1)
})
const { rows } = await database.query(`SELECT count(*)::int AS n FROM pg_tables WHERE tablename IN ('entries', 'mirror')`)
const none: Inspection = { entries: [], mirror: [], indexesAgree: true } // the cut came before the tables
console.log(JSON.stringify(rows[0]?.n === 2 ? await inspection() : none))

async function inspection(): Promise<Inspection> {
  return {
    entries: await numbers(database, 'entries'),
    mirror: await numbers(database, 'mirror'),
    indexesAgree: (await readAll({ table: true, index: false })) === (await readAll({ table: false, index: true }))
  }
}

async function numbers(from: EmbeddedDatabase, table: string): Promise<readonly number[]> {
  const found = await from.query(`SELECT n FROM ${table} ORDER BY text, n`)
  return found.rows.map(row => Number(row.n))
}

async function readAll(by: { readonly table: boolean; readonly index: boolean }): Promise<string> {
  await database.exec(
    `SET enable_seqscan = ${by.table}; SET enable_indexscan = ${by.index}; SET enable_bitmapscan = off; SET enable_indexonlyscan = off`
  )
  const found = await database.query(
    `SELECT md5(string_agg(n::text || text, ',')) AS sum FROM (SELECT * FROM mirror WHERE text >= '' ORDER BY text, n) AS ordered`
  )
  return String(found.rows[0]?.sum)
}
