// Small private files of the data directory.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MODE = 0o600

/** @throws Error if the data directory is that of a single process, whose keys and demo platform the cluster would take over */
export function assertNoSingleProcess(dataDir: string): void {
  if (!existsSync(join(dataDir, 'database'))) return
  throw new Error(`${dataDir} has the embedded database of a single process (\`npm start\`). Choose another folder with --data-dir.`)
}

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
