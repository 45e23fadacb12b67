// Small private files of the data directory.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const MODE = 0o600

/** The secret stored in a file, which is made with `make` if it does not exist. */
export function secretIn(file: string, make: () => string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const secret = make()
  writePrivately(file, `${secret}\n`)
  return secret
}

export function writePrivately(file: string, text: string): void {
  writeFileSync(file, text, { mode: MODE })
}
