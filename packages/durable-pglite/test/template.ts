/**
 * Data directories for tests, made once and copied, because creating one takes seconds and copying one does not. A copy is what an earlier
 * run left; tests of the first start make their own.
 */
import { createHash } from 'node:crypto'
import { constants, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const SOURCES = new URL('../src/', import.meta.url).pathname
/** The sources that decide what a new database looks like. */
export const CREATING: readonly string[] = ['create.ts', 'durable-fs.ts', 'engine.ts', 'layout.ts', 'messages.ts'].map(name =>
  join(SOURCES, name)
)
const CACHE = new URL('../../../.cache/', import.meta.url).pathname

/** An empty folder, removed when the test ends. */
export function emptyDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-embedded-'))
  context.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A closed data directory with an empty database, removed when the test ends. */
export async function freshDataDir(context: TestContext): Promise<string> {
  const directory = join(emptyDirectory(context), 'data')
  await copyTemplate(directory)
  return directory
}

/** Copies a closed data directory with an empty database to `directory`, which does not exist yet. */
export async function copyTemplate(directory: string): Promise<void> {
  copyDataDir(await emptyTemplate(), directory)
}

/** Copies a closed data directory. */
export function copyDataDir(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

function emptyTemplate(): Promise<string> {
  return madeOnce('embedded', CREATING, async made => {
    // Loaded only if needed: most callers find the template that was made before.
    const { openEmbedded } = await import('../src/index.ts')
    const database = await openEmbedded({ dataDir: made, maintenanceMs: 0 })
    await database.close()
  })
}

/** The path of a directory that `make` fills once. The path changes with each of the `sources` (files or folders), and with the engine. */
export async function madeOnce(name: string, sources: readonly string[], make: (directory: string) => Promise<void>): Promise<string> {
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
  for (const source of sources.flatMap(filesOf)) hash.update(source).update(readFileSync(source))
  return hash.digest('hex').slice(0, 16)
}

/** The file itself, or the files of a folder. */
function filesOf(path: string): readonly string[] {
  if (path.endsWith('.ts')) return [path]
  return readdirSync(path)
    .sort()
    .map(name => join(path, name))
}
