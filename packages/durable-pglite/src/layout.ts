/**
 * The files of a data directory, created so that an unfinished database never looks finished.
 *
 *   database/          PostgreSQL's own files
 *   READY              written last when the database is created; without it `database/` is not trusted
 *   database.half-N/   a database being created, or one whose creation was interrupted
 *   owner.lock, owner.json   see lock.ts
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder, syncPath, writeDurably } from '@trunkline/files/durable'
import { EngineRefused } from './errors.ts'

/** Unfinished databases kept; more mean that creating one cannot succeed here. */
const HALF_MADE_MAX = 5

/** The format of the directory; raised when an older service could not read it. */
const FORMAT = 'trunkline-embedded 1 postgresql 18'

export interface Layout {
  readonly directory: string
  readonly database: string
  readonly ready: string
}

export function layoutOf(directory: string): Layout {
  return { directory, database: join(directory, 'database'), ready: join(directory, 'READY') }
}

/** Whether the database was created completely. @throws EngineRefused if by a version that this one cannot read */
export function isReady({ ready }: Layout): boolean {
  if (!existsSync(ready)) return false
  const format = readFileSync(ready, 'utf8').trim()
  if (format === FORMAT) return true
  throw new EngineRefused('incompatible', `${ready} must contain ${JSON.stringify(FORMAT)}, found ${JSON.stringify(format.slice(0, 80))}.`)
}

/**
 * Where to make a new database: a folder that no other process, not even an orphan of an earlier attempt, writes to.
 * A database without its marker is moved aside first, with a warning.
 * @throws EngineRefused after too many interrupted attempts
 */
export function beginMaking({ directory, database, ready }: Layout, warn: (warning: string) => void): string {
  const free = Array.from({ length: HALF_MADE_MAX }, (_, n) => join(directory, `database.half-${n + 1}`)).filter(path => !existsSync(path))
  const aside = existsSync(database) ? free.shift() : undefined
  const [folder] = free
  if (folder === undefined)
    throw new EngineRefused(
      'creation_failed',
      `Making the database in ${directory} was interrupted ${HALF_MADE_MAX} times. See why, then delete its database.half-* folders.`
    )
  if (aside !== undefined) {
    renameSync(database, aside)
    warn(
      `${ready} is missing, so the database beside it was never finished, or the file was lost. A new database is made; the other is kept as ${aside}`
    )
  }
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

/** Makes a finished database durable, renames it, and only then marks it as ready. */
export function finishMaking({ directory, database, ready }: Layout, folder: string): void {
  syncTree(folder)
  renameSync(folder, database)
  syncFolder(directory)
  writeDurably(ready, `${FORMAT}\n`)
}

function syncTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) syncTree(path)
    else syncPath(path)
  }
  syncFolder(directory)
}
