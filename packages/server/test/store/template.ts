/** Data directories of the embedded database with the newest schema, made once and copied. */
import { join } from 'node:path'
import { CREATING, copyDataDir, copyTemplate, madeOnce } from '../../../durable-pglite/test/template.ts'

const STORE = new URL('../../src/store/', import.meta.url).pathname
/** The sources that decide what the schema is. */
const MIGRATING = ['migrate.ts', 'statements.ts', 'migrations'].map(name => join(STORE, name))

/** Copies a closed data directory with the newest schema and no rows to `directory`, which does not exist yet. */
export async function copyStore(directory: string): Promise<void> {
  copyDataDir(await storeTemplate(), directory)
}

/** A data directory to copy, with the newest schema. */
export function storeTemplate(): Promise<string> {
  return madeOnce('store', [...CREATING, ...MIGRATING], async made => {
    await copyTemplate(made)
    const { openStore } = await import('../../src/store/index.ts')
    const { testDeps } = await import('./deps.ts')
    const store = await openStore({ kind: 'embedded', dataDir: made }, testDeps())
    await store[Symbol.asyncDispose]()
  })
}
