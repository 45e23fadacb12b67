import type { Timestamp } from '@trunkline/core/domain/timestamp'

/** How the service is now. */
export interface ServiceState {
  readonly startedAt: Timestamp
  /** Null: it is ready. */
  problem(): Promise<'starting' | 'stopping' | 'store' | null>
  /** The node's id; `this` where there is one process. */
  readonly name: string
  readonly version: string
}
