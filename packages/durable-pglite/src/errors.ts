/** Errors of the embedded database. */
import { StoreUnavailable } from '@trunkline/core/ports/store'

/** Why the engine cannot serve a request just now. Nothing of that request was written. */
export type UnavailableReason =
  /** More requests are waiting than the queue holds. */
  | 'queue_full'
  /** The request waited in the queue longer than the deadline. */
  | 'deadline'
  /** A transaction left the engine idle between two statements for too long and was rolled back. */
  | 'idle_in_transaction'
  /** The disk has less free space than the reserve; reads still work. */
  | 'disk_full'
  /** The engine is closing or closed. */
  | 'closed'

/** The engine cannot serve this request; a client receives a 503. */
export class EngineUnavailable extends StoreUnavailable {
  readonly reason: UnavailableReason
  constructor(reason: UnavailableReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Why a data directory was not opened. */
export type RefusedReason =
  /** Another process holds the directory, or may hold it. */
  | 'held'
  /** The engine could not show that a commit reaches the disk. */
  | 'not_durable'
  /** The engine cannot read the files. */
  | 'damaged'
  /** Another version created the directory. */
  | 'incompatible'
  /** Creating the database failed. */
  | 'creation_failed'

/** The data directory was not opened and is unchanged. The message says what to do. */
export class EngineRefused extends Error {
  override readonly name = 'EngineRefused'
  readonly reason: RefusedReason
  constructor(reason: RefusedReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** A statement that cannot run on the shared session: a bug of the caller. */
export class EngineMisuse extends Error {
  override readonly name = 'EngineMisuse'
}
