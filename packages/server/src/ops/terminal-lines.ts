/** Lines that a terminal shows during a slow start or stop. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../config/settings.ts'

export function starting({ databaseUrl, dataDir }: Pick<Settings, 'databaseUrl' | 'dataDir'>): string {
  const isFirst = databaseUrl === null && !existsSync(join(dataDir, 'database'))
  return isFirst ? `Starting… The first start creates the database in ${dataDir}, which takes a few seconds.\n` : 'Starting…\n'
}

/** On a separate line, after the `^C` that a terminal shows. */
export function stopping({ shutdownSeconds }: Pick<Settings, 'shutdownSeconds'>): string {
  return `\nStopping: waiting for requests and orders under way, ${shutdownSeconds} seconds at most. Ctrl-C again ends it at once.\n`
}
