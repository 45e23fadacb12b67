/** Opens a data directory, prints that, and writes one row after the other until it is killed. */
import { openEmbedded } from '../../src/index.ts'

const input: { readonly dataDir: string; readonly hook?: { readonly module: string; readonly data: unknown } } = JSON.parse(
  process.argv[2] ?? 'null'
)
const began = performance.now()
const database = await openEmbedded({ ...input, maintenanceMs: 0 }).catch((error: Error) => {
  console.log(`refused after ${Math.round(performance.now() - began)} ms: ${error.message}`)
  process.exit(3)
})
await database.exec('CREATE TABLE IF NOT EXISTS item (id int)')
console.log(`open ${process.pid}`)
for (let id = 1; ; id++) {
  await database.query('INSERT INTO item VALUES ($1)', [id])
  console.log(`A ${id}`)
}
