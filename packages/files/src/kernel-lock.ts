/**
 * A lock on a file that the kernel releases when its holder ends, and that other containers see. Some network file systems grant it to
 * everybody.
 */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** A lock that is held. */
export interface KernelLock {
  /** Releases it; the file stays, because another process may wait to open it. */
  close(): void
}

const SQLITE_BUSY = 5

/**
 * The lock is a transaction on an empty SQLite file: the only lock of this runtime that ends with its holder.
 * @returns null if it is held, in this process or another.
 * @throws what opening the file throws
 */
export function takeKernelLock(file: string): KernelLock | null {
  makeFile(file)
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null
    throw error
  }
}

/** For its owner only. An existing file is not opened: closing it again would release this process's locks on it. */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
