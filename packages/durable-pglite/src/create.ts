/**
 * Creates an empty database in the folder named by the first argument. It is a separate process because creating one takes 700 MB that a
 * long-lived process would never release.
 */
import { openEngine, runScript } from './engine.ts'
import { isCreateInput } from './messages.ts'

const input: unknown = JSON.parse(process.argv[2] ?? 'null')
if (!isCreateInput(input)) throw new Error('the first argument must be the creation input')
const engine = await openEngine({ ...input, fsyncs: new BigInt64Array(new SharedArrayBuffer(8)), sharedBuffersMb: 16, filesMax: 64 })
const run = (sql: string) => runScript(message => engine.exchange(message), sql)
// The templates are never vacuumed here, so their age would eventually stop all writing; and they are half of the files.
run('UPDATE pg_database SET datistemplate = false')
run('DROP DATABASE template0')
run('DROP DATABASE template1')
await engine.close()
