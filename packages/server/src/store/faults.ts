// Classifies errors of the database: refused (nothing changed), unavailable, or an unconfirmed commit.
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { DatabaseError } from 'pg'

/** SQLSTATEs (or classes of them) that say "not now": too many connections, out of resources, lock not to be had, shutting down. */
const NOT_NOW = ['08', '53', '55P03', '57', '25006']
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
const INSUFFICIENT_PRIVILEGE = '42501'

/**
 * Whether the server reported, on a connection that stays open, that the statement failed: its transaction is then undone. A fatal error
 * ends the session, and may have come after the commit.
 */
export function isRefusal(error: unknown): error is DatabaseError {
  // The severity is in the server's language, so codes that always end a session count too.
  return error instanceof DatabaseError && error.severity !== 'FATAL' && error.severity !== 'PANIC' && !ENDS_SESSION.test(error.code ?? '')
}

/** Whether the store's error says that the server refused the statement: nothing was changed. */
export function wasRefused(error: unknown): boolean {
  return isRefusal(error) || (error instanceof StoreUnavailable && isRefusal(error.cause))
}

const ENDS_SESSION = /^(?:08|28|57P|25P0[34])/

/** Whether the role may not do what was asked. */
export function isDenied(error: unknown): error is DatabaseError {
  return isRefusal(error) && error.code === INSUFFICIENT_PRIVILEGE
}

/** Whether the server ended the session because its transaction waited too long for the next statement: it has not been committed. */
export function endedIdle(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === IDLE_IN_TRANSACTION
}
const IDLE_IN_TRANSACTION = '25P03'

/** What undid a transaction that may succeed if it is repeated. */
export function isTransient(error: unknown): boolean {
  if (endedIdle(error)) return true
  return isRefusal(error) && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK || isOutdated(error))
}

/**
 * Whether a prepared statement gives other columns than when it was prepared, because a newer version has migrated the database meanwhile:
 * it has to be prepared again. Nothing was executed.
 */
export function isOutdated(error: unknown): boolean {
  return isRefusal(error) && error.code === FEATURE_NOT_SUPPORTED && error.routine === REVALIDATION
}
const FEATURE_NOT_SUPPORTED = '0A000'
/** The function of PostgreSQL that refuses it. The message is in the server's language. */
const REVALIDATION = 'RevalidateCachedQuery'

/** An error before any commit was sent. Nothing was changed, so a lost database is only unavailable. */
export function beforeCommit(error: unknown): unknown {
  if (error instanceof StoreUnavailable || !isInfrastructure(error)) return error
  return new StoreUnavailable('The database cannot be reached or does not answer now.', { cause: error })
}

/** An error after a commit was sent, alone or with its statement. */
export function aroundCommit(error: unknown): unknown {
  if (error instanceof StoreUnavailable || error instanceof CommitUnknown) return error
  if (isRefusal(error)) return beforeCommit(error)
  if (!isInfrastructure(error)) return error
  return new CommitUnknown('The database did not confirm the commit; it may have happened.', { cause: error })
}

/** A quota or a limit of file sizes, for which PostgreSQL has no code: like a full disk, it is no fault of the statement. */
const NO_SPACE = /\b(?:File too large|Disk quota exceeded|No space left on device)$/

/** Errors of the connection or the server rather than of the statement. A bug of ours (a `TypeError`) is neither. */
function isInfrastructure(error: unknown): boolean {
  if (error instanceof CommitUnknown) return true
  if (error instanceof DatabaseError)
    return !isRefusal(error) || NO_SPACE.test(error.message) || NOT_NOW.some(prefix => error.code?.startsWith(prefix))
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) return true
  return CONNECTION_LOST.test(error.message)
}

// The driver has no codes for these.
const CONNECTION_LOST =
  /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after|Client was closed|driver has already been destroyed|Postgres connection has been discarded)/
