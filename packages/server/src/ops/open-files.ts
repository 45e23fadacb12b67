import { readFileSync } from 'node:fs'

/** Files and sockets this process may have open at once; null where the system does not say. Node raised the soft limit to the hard one when it started. */
export function openFilesMax(limits: () => string = () => readFileSync('/proc/self/limits', 'utf8')): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)\s/m.exec(limits()) ?? []
    return soft === undefined || soft === 'unlimited' ? null : Number(soft)
  } catch {
    return reported()
  }
}

/** Where there is no /proc. */
function reported(): number | null {
  const report: unknown = process.report.getReport()
  const limits: unknown = Reflect.get(Object(report), 'userLimits')
  const soft: unknown = Reflect.get(Object(Reflect.get(Object(limits), 'open_files')), 'soft')
  return typeof soft === 'number' ? soft : null
}

/** Files the embedded database may keep open: a quarter of the descriptors. It closes and opens them as it needs, and never needs more than 64. */
export function databaseFilesWithin(filesMax: number | null): number {
  return Math.min(1_000, Math.max(64, Math.floor((filesMax ?? Number.POSITIVE_INFINITY) / 4)))
}

/** Connections that may come in, so that files, the database and the brokers' sockets always have as many descriptors left. */
export function connectionsWithin(wanted: number, filesMax: number | null): number {
  return filesMax === null ? wanted : Math.min(wanted, Math.max(16, Math.floor(filesMax / 2)))
}
