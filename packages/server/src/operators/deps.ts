// What operations of the API for operators stand on.
import type { AppDeps } from '@trunkline/core/app/application'
import type { OperatorReads } from '@trunkline/core/ports/operator-reads'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { AuditEntry } from '@trunkline/core/ports/store'
import type { Cursors } from '../http/cursor.ts'
import type { OperatorAccess } from './access.ts'
import type { RequestLog } from './request-log.ts'

/** How the service is now. */
export interface ServiceState {
  readonly startedAt: string
  /** Null: it is ready. */
  problem(): Promise<'starting' | 'stopping' | 'store' | null>
  /** Null where there is one node. */
  readonly nodeId: string | null
}

export interface OperatorDeps {
  readonly app: AppDeps
  readonly operators: OperatorStore
  readonly reads: OperatorReads
  /** The newest entries first, waiting ones before those of the chain. */
  readonly newestAudit: (limit: number) => Promise<readonly (AuditEntry & { readonly position: number | null })[]>
  readonly access: OperatorAccess
  readonly requests: RequestLog
  readonly cursors: Cursors
  readonly service: ServiceState
}
