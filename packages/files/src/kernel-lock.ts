/** A lock on a file that the kernel drops when its holder dies, and that is seen across containers. Some network file systems grant it to everybody. */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** A lock that is held. */
export interface KernelLock {
  /** Gives it up; the file stays, because another may wait to open it. */
  close(): void
}

const SQLITE_BUSY = 5

/**
 * The lock is a transaction on an empty SQLite file: the only lock of this runtime that dies with its holder.
 * @returns null when somebody has it, in this process or another. @throws what opening the file throws
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

/** For its owner only. A file that is there is left alone: closing it once more would drop the locks that this process has on it. */
function makeFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
