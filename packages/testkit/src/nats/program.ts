// Finds the system's nats-server for tests; nothing is downloaded.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The variable that names the program for a test run. */
export const NATS_VARIABLE = 'TRUNKLINE_TEST_NATS_SERVER'

export const NATS_MISSING = `No nats-server was found, and it could not be installed. Install it (Debian: nats-server), or name it in ${NATS_VARIABLE}.`

/** Where Debian puts it, which is on the PATH of root only. */
const ELSEWHERE = ['/usr/sbin/nats-server', '/usr/local/bin/nats-server', '/opt/homebrew/bin/nats-server']

/** The path of a nats-server: the one that the environment names, else the first on the PATH; null if there is none. */
export function findNatsServer(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  const named = env[NATS_VARIABLE]
  if (named !== undefined && named !== '') return isProgram(named) ? named : null
  const folders = (env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return [...folders.map(folder => join(folder, 'nats-server')), ...ELSEWHERE].find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
