/**
 * What happens to an exception that nothing caught: it is logged with its cause, and the process ends with {@link EXIT_CODE}. What comes
 * from outside is contained where it comes in (a request, a session, a broker's stream), so this means a fault of our own, in a state that
 * nobody foresaw; to go on could send an order twice. The next start recovers from what is stored.
 */
import type { Log } from '@trunkline/core/ports/log'

/** "Internal software error" of sysexits.h: a supervisor restarts the service. */
export const EXIT_CODE = 70

/** "Temporary failure" of sysexits.h: a stop that was cut short, by a database that does not answer for instance. The next start recovers. */
export const STOPPED_LATE = 75

/** Says why on standard error, and ends a process whose stop was not finished in time. */
export function endLate(log: Pick<Log, 'error'>, seconds: number): never {
  const message = `the stop was not finished within TRUNKLINE_SHUTDOWN_SECONDS (${seconds} s), as when the database or a broker does not answer; the next start looks up every order whose answer is missing`
  try {
    log.error('the stop was cut short', { seconds })
    process.stderr.write(`trunkline ends: ${message}.\n`)
  } finally {
    process.exit(STOPPED_LATE)
  }
}

export function endOnUncaught(log: Pick<Log, 'error'>): void {
  process.on('uncaughtException', cause => die(log, 'an exception that nothing caught', cause))
  process.on('unhandledRejection', cause => die(log, 'a promise that nothing awaited was rejected', cause))
}

/** Logs, says why on standard error, and ends the process. Works whatever the log does. */
export function die(log: Pick<Log, 'error'>, what: string, cause: unknown): never {
  try {
    log.error(what, { cause })
    process.stderr.write(`trunkline ends: ${what}: ${cause instanceof Error ? cause.message : String(cause)}\n`)
  } finally {
    process.exit(EXIT_CODE)
  }
}
