// What operations of the API for operators stand on.
import type { AppDeps } from '@trunkline/core/app/application'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { OperatorReads } from '@trunkline/core/ports/operator-reads'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { Cursors } from '../http/cursor.ts'
import type { OperatorAccess } from './access.ts'
import type { EventWaits } from './event-wait.ts'
import type { Places } from './places.ts'
import type { RequestLog } from './request-log.ts'

/** How the service is now. */
export interface ServiceState {
  readonly startedAt: Timestamp
  /** Null: it is ready. */
  problem(): Promise<'starting' | 'stopping' | 'store' | null>
  /** The node's id; `this` where there is one process. */
  readonly name: string
  readonly version: string
  /** Ids of the other nodes that live. */
  otherNodes(): readonly string[]
}

export interface OperatorDeps {
  readonly app: AppDeps
  readonly operators: OperatorStore
  readonly reads: OperatorReads
  readonly access: OperatorAccess
  readonly requests: RequestLog
  readonly waits: EventWaits
  readonly places: Places
  readonly cursors: Cursors
  readonly service: ServiceState
}
