// npm run migrations [-- --data]: enters migrations that are new into the list of those that landed. With --data also writes the data set
// of the newest schema, which is done once for each release.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildStore, openEngine } from '../../../src/store/index.ts'
import { migrate, readMigrations } from '../../../src/store/migrate.ts'
import { testDeps } from '../deps.ts'
import { fill, fillOperators, readBack } from './data-set.ts'
import { dump, landed, lineOf, plain, writeDataSet, writeLanded } from './files.ts'

const migrations = readMigrations()
const lines = migrations.map(lineOf)
const before = landed()
const altered = before.filter((line, index) => line !== lines[index])
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(
    'npm run migrations            enters migrations that are new into the list of those that landed and may not change any more\n' +
      'npm run migrations -- --data  also writes the data set of the newest schema, once for each release\n'
  )
} else if (altered.length > 0) {
  process.stderr.write(
    `These migrations landed and may not change any more:\n${altered.join('\n')}\nPut them back as they were, and write what is to change into a new one.\n`
  )
  process.exitCode = 1
} else {
  writeLanded(lines)
  process.stdout.write(`${lines.length - before.length} new, ${lines.length} in all\n`)
  if (process.argv.includes('--data')) await writeNewest()
}

async function writeNewest(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trunkline-schema-'))
  const deps = testDeps()
  try {
    const engine = await openEngine({ kind: 'embedded', dataDir }, deps)
    await migrate(engine.db, deps)
    await using store = buildStore(engine, deps)
    const keys = await fill(store)
    await fillOperators(store)
    const records = plain(await readBack(store, keys))
    writeDataSet({ schema: migrations.length, statements: await dump(engine.db), read: { keys, records } })
    process.stdout.write(`wrote the data set of schema ${migrations.length}\n`)
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}
