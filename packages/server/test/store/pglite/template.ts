/**
 * Data directories for tests, made once and copied, because making one takes seconds and copying one does not: one with an empty database, and
 * one with the newest schema. A copy is what an earlier run of the service left: tests of the first start make their own.
 */
import { createHash } from 'node:crypto'
import { constants, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const SOURCES = new URL('../../../src/store/', import.meta.url).pathname
/** Of the store: what decides what a new database looks like, and what its schema does. */
const MAKING = ['create.ts', 'durable-fs.ts', 'engine.ts', 'layout.ts', 'messages.ts'].map(name => `pglite/${name}`)
const MIGRATING = ['migrate.ts', 'statements.ts', 'migrations']
const CACHE = new URL('../../../../../.cache/', import.meta.url).pathname

/** An empty folder that goes when the test ends. */
export function emptyDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-embedded-'))
  context.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A data directory with an empty database in it, closed. It goes when the test ends. */
export async function freshDataDir(context: TestContext): Promise<string> {
  const directory = join(emptyDirectory(context), 'data')
  await copyTemplate(directory)
  return directory
}

/** Puts a closed data directory with an empty database in it where nothing is yet. */
export async function copyTemplate(directory: string): Promise<void> {
  copyDataDir(await emptyTemplate(), directory)
}

/** Puts a closed data directory whose database has the newest schema, and nothing in it, where nothing is yet. */
export async function copyStore(directory: string): Promise<void> {
  copyDataDir(await storeTemplate(), directory)
}

/** Copies a closed data directory. */
export function copyDataDir(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

/** A data directory to copy from, whose database has the newest schema. */
export function storeTemplate(): Promise<string> {
  return madeOnce('store', [...MAKING, ...MIGRATING], async made => {
    await copyTemplate(made)
    const { openStore } = await import('../../../src/store/index.ts')
    const { testDeps } = await import('../deps.ts')
    const store = await openStore({ kind: 'embedded', dataDir: made }, testDeps())
    await store[Symbol.asyncDispose]()
  })
}

function emptyTemplate(): Promise<string> {
  return madeOnce('embedded', MAKING, async made => {
    // Loaded only where it is needed: most who ask find what was made before.
    const { openEmbedded } = await import('../../../src/store/pglite/index.ts')
    const database = await openEmbedded({ dataDir: made, maintenanceMs: 0 })
    await database.close()
  })
}

/** What is made lies under another name when any of the sources, below the store's folder, or the engine itself has changed. */
async function madeOnce(name: string, sources: readonly string[], make: (directory: string) => Promise<void>): Promise<string> {
  const path = join(CACHE, `${name}-${fingerprint(sources)}`)
  if (existsSync(path)) return path
  mkdirSync(CACHE, { recursive: true })
  const making = mkdtempSync(join(CACHE, `${name}-making-`))
  const made = join(making, 'data')
  await make(made)
  try {
    renameSync(made, path)
  } catch (error) {
    if (!existsSync(path)) throw error // otherwise another test file was faster
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
  return path
}

function fingerprint(sources: readonly string[]): string {
  const hash = createHash('sha256').update(readFileSync(new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))))
  for (const source of sources.flatMap(filesOf)) hash.update(source).update(readFileSync(join(SOURCES, source)))
  return hash.digest('hex').slice(0, 16)
}

/** The file itself, or the files of a folder. */
function filesOf(path: string): readonly string[] {
  if (path.endsWith('.ts')) return [path]
  return readdirSync(join(SOURCES, path))
    .sort()
    .map(name => `${path}/${name}`)
}
