/** Data directories for tests: one empty database is made once and copied, because making one takes seconds and copying one does not. */
import { createHash } from 'node:crypto'
import { constants, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openEmbedded } from '../../../src/store/pglite/index.ts'

const SOURCES = ['create.ts', 'durable-fs.ts', 'engine.ts', 'layout.ts', 'messages.ts']
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
  copyDataDir(await template(), directory)
}

/** Copies a closed data directory. */
export function copyDataDir(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

async function template(): Promise<string> {
  const path = join(CACHE, `embedded-${fingerprint()}`)
  if (existsSync(path)) return path
  mkdirSync(CACHE, { recursive: true })
  const made = mkdtempSync(join(CACHE, 'embedded-making-'))
  const database = await openEmbedded({ dataDir: made, maintenanceMs: 0 })
  await database.close()
  try {
    renameSync(made, path)
  } catch (error) {
    if (!existsSync(path)) throw error
    rmSync(made, { recursive: true, force: true }) // another test file was faster
  }
  return path
}

/** Changes with everything that decides what a new database looks like. */
function fingerprint(): string {
  const hash = createHash('sha256')
  const pglite = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  for (const source of [pglite, ...SOURCES.map(name => new URL(`../../../src/store/pglite/${name}`, import.meta.url))])
    hash.update(readFileSync(source))
  return hash.digest('hex').slice(0, 16)
}
