import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, writeDurably } from '@trunkline/files/durable'

const USABLE = /^[\x21-\x7e]{16,256}$/

/**
 * The token that opens `/metrics`, in `metrics-token` of the data directory, private to its user. Created if there is no usable one:
 * nothing else depends on it.
 */
export function metricsToken(dataDir: string, make: () => string): string {
  const path = join(dataDir, 'metrics-token')
  const stored = read(path)
  if (stored !== null) {
    // A restored backup may be readable by others.
    if (process.platform !== 'win32') chmodSync(path, 0o600)
    return stored
  }
  const token = make()
  makeFolder(dataDir)
  writeDurably(path, `${token}\n`)
  return token
}

function read(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8').trim()
    return USABLE.test(text) ? text : null
  } catch {
    return null
  }
}
