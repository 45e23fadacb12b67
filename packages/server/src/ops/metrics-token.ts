import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, writeDurably } from '@trunkline/files/durable'

const USABLE = /^[\x21-\x7e]{16,256}$/

/**
 * The token that opens `/metrics`, as it stands in `metrics-token` in the data directory, private to its user. Made when there is none, or
 * nothing that could be one: nothing else depends on it, so a lost one is simply replaced.
 */
export function metricsToken(dataDir: string, make: () => string): string {
  const path = join(dataDir, 'metrics-token')
  const stored = read(path)
  if (stored !== null) {
    // A backup that was put back may be open to others.
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
