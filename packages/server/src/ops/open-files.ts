import { readFileSync } from 'node:fs'

/**
 * The number of files and sockets this process may have open; null if the system does not report it. Node raised the soft limit to the hard
 * one at its start.
 */
export function openFilesMax(limits: () => string = () => readFileSync('/proc/self/limits', 'utf8')): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)\s/m.exec(limits()) ?? []
    return soft === undefined || soft === 'unlimited' ? null : Number(soft)
  } catch {
    return reported()
  }
}

/** Without /proc. */
function reported(): number | null {
  const report: unknown = process.report.getReport()
  const limits: unknown = Reflect.get(Object(report), 'userLimits')
  const soft: unknown = Reflect.get(Object(Reflect.get(Object(limits), 'open_files')), 'soft')
  return typeof soft === 'number' ? soft : null
}

/**
 * Files the embedded database may keep open: a quarter of the descriptors. It closes and opens them as needed, and never needs more than
 * 64.
 */
export function databaseFilesWithin(filesMax: number | null): number {
  return Math.min(1_000, Math.max(64, Math.floor((filesMax ?? Number.POSITIVE_INFINITY) / 4)))
}

/** The limit of incoming connections, so that files, the database and the brokers' sockets have as many descriptors. */
export function connectionsWithin(wanted: number, filesMax: number | null): number {
  return filesMax === null ? wanted : Math.min(wanted, Math.max(16, Math.floor(filesMax / 2)))
}
