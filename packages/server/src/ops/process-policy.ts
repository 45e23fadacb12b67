/**
 * What happens to an exception that nothing caught: it is logged with its cause, and the process ends with {@link EXIT_CODE}. What comes
 * from outside is contained where it comes in (a request, a session, a broker's stream), so this means a fault of our own, in a state that
 * nobody foresaw; to go on could send an order twice. The next start recovers from what is stored.
 */
import type { Log } from '@trunkline/core/ports/log'

/** "Internal software error" of sysexits.h: a supervisor restarts the service. */
export const EXIT_CODE = 70

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
