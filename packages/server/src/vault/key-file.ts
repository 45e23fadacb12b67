/** The file that holds master keys: private, replaced whole, changed by one process at a time. */
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fstatSync, openSync, readFileSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { makeFolder, writeDurably } from '@trunkline/files/durable'
import { formatKeySet, KEY_BYTES, type KeySet, type MasterKey, parseKeySet } from './master-keys.ts'

/** The key file cannot be used or changed. The message says what to do, and never contains the file's contents. */
export class KeyFileRefused extends Error {
  override readonly name = 'KeyFileRefused'
}

const BYTES_MAX = 64 * 1024
const CREATE_WAIT_MS = 5_000
const CHANGE_WAIT_MS = 500
const ID_BYTES = 6

export function freshKey(): MasterKey {
  return { id: `k${randomBytes(ID_BYTES).toString('hex')}`, key: randomBytes(KEY_BYTES) }
}

/** Reads the keys. @throws KeyFileRefused unless the file is private and well-formed. */
export function readKeyFile(path: string): KeySet {
  const file = opened(path)
  try {
    const { mode, size } = fstatSync(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new KeyFileRefused(`${path} holds master keys and is open to others; make it private with: chmod 600 ${path}`)
    if (size > BYTES_MAX) throw new KeyFileRefused(`${path} is too large to be a file of master keys`)
    return parseKeySet(readFileSync(file, 'utf8'))
  } catch (cause) {
    if (cause instanceof KeyFileRefused) throw cause
    throw new KeyFileRefused(`${path} cannot be used: ${cause instanceof Error ? cause.message : 'unreadable'}`, { cause })
  } finally {
    closeSync(file)
  }
}

/** Identifies a state of the file; null if there is none. Cheap: one stat call. */
export function stateOfKeyFile(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.ino} ${found.mtimeNs} ${found.size} ${found.mode}`
}

/** When the file was last changed: its first key has been current at least since then. */
export function keyFileChangedAt(path: string): Timestamp {
  return timestampOfMs(statSync(path).mtimeMs)
}

/**
 * Creates the file with one new key unless it exists. Of several concurrent processes, one creates it. Returns the id of the key; null if
 * the file was there.
 */
export function createKeyFile(path: string): string | null {
  makeFolder(dirname(path))
  return exclusively(path, CREATE_WAIT_MS, () => {
    if (existsSync(path)) return null
    const key = freshKey()
    writeKeys(path, { keys: [key], instance: randomBytes(KEY_BYTES) })
    return key.id
  })
}

/** Removes the file if it is still as it was created, with this key only. */
export function removeKeyFile(path: string, createdKeyId: string): void {
  exclusively(path, CHANGE_WAIT_MS, () => {
    const { keys } = readKeyFile(path)
    if (keys.length === 1 && keys[0].id === createdKeyId) unlinkSync(path)
  })
}

/** Reads, changes and replaces the file while no other process can. @throws KeyFileRefused */
export function changeKeyFile(path: string, change: (set: KeySet) => KeySet): KeySet {
  return exclusively(path, CHANGE_WAIT_MS, () => {
    // A file with another owner would be unreadable to its service.
    const { uid } = statSync(path)
    if (process.geteuid !== undefined && uid !== process.geteuid())
      throw new KeyFileRefused(`${path} belongs to another user (id ${uid}); run this as that user`)
    const next = change(readKeyFile(path))
    writeKeys(path, next)
    return next
  })
}

function opened(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    if (!existsSync(path)) throw new KeyFileRefused(`${path} is not there; the service makes it at its first start`)
    throw new KeyFileRefused(`${path}, the file of master keys, cannot be opened`, { cause })
  }
}

/** At every moment the file has either the old keys or the new ones. */
function writeKeys(path: string, set: KeySet): void {
  writeDurably(path, formatKeySet(set), { onlyNew: !existsSync(path) })
}

/**
 * Two concurrent changes would each drop the other's key while it is in use. An SQLite transaction is a lock that the kernel releases when
 * its holder ends.
 */
function exclusively<T>(path: string, waitMs: number, work: () => T): T {
  closeSync(openSync(`${path}.lock`, 'a', 0o600)) // private, so that no other process can hold it
  const lock = new DatabaseSync(`${path}.lock`, { timeout: waitMs })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return work()
  } catch (cause) {
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY)
      throw new KeyFileRefused(`another process is changing ${path}; try again when it is done`, { cause })
    throw cause
  } finally {
    lock.close()
  }
}
const SQLITE_BUSY = 5
