/**
 * An uncaught exception is logged with its cause, and ends the process with {@link EXIT_CODE}. Input from outside is contained where it
 * arrives (a request, a session, a broker's stream), so such an exception is our own fault in an unforeseen state, and going on could send
 * an order twice. The next start recovers from what is stored.
 */
import type { Log } from '@trunkline/core/ports/log'

/** "Internal software error" of sysexits.h: a supervisor restarts the service. */
export const EXIT_CODE = 70

/**
 * "Temporary failure" of sysexits.h: a stop that was cut short, for example because the database did not answer. The next start recovers.
 */
export const STOPPED_LATE = 75

/**
 * "Service unavailable" of sysexits.h: a node lost its lease, for example because it did not reach the database, and others may have its
 * users. It is no fault of the program, so it has a code of its own.
 */
export const LEASE_LOST = 69

/** Thrown where nothing catches it: the process ends with this code, for a reason that is foreseen. */
export class ProcessEnd extends Error {
  override readonly name = 'ProcessEnd'
  readonly code: number

  constructor(code: number, cause: Error) {
    super(cause.message, { cause })
    this.code = code
  }
}

/** Prints the reason on standard error, and ends a process that did not stop in time. */
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
  process.on('uncaughtException', cause =>
    cause instanceof ProcessEnd ? end(log, cause) : die(log, 'an exception that nothing caught', cause)
  )
  process.on('unhandledRejection', cause => die(log, 'a promise that nothing awaited was rejected', cause))
}

/** Logs the cause, prints it on standard error, and ends the process, even if the log fails. */
export function die(log: Pick<Log, 'error'>, what: string, cause: unknown): never {
  try {
    log.error(what, { cause })
    process.stderr.write(`trunkline ends: ${what}: ${cause instanceof Error ? cause.message : String(cause)}\n`)
  } finally {
    process.exit(EXIT_CODE)
  }
}

function end(log: Pick<Log, 'error'>, { code, message, cause }: ProcessEnd): never {
  try {
    log.error('the process ends', { cause })
    process.stderr.write(`trunkline ends: ${message}\n`)
  } finally {
    process.exit(code)
  }
}
