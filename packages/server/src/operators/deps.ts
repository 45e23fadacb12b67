// What operations of the API for operators stand on.
import type { AppDeps } from '@trunkline/core/app/application'
import type { OperatorReads } from '@trunkline/core/ports/operator-reads'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { Cursors } from '../http/cursor.ts'
import type { OperatorAccess } from './access.ts'
import type { EventWaits } from './event-wait.ts'
import type { OperatorNodes } from './nodes/index.ts'
import type { Places } from './places.ts'
import type { OneReplay } from './replay/one-at-a-time.ts'
import type { NoSandbox, OwnSandbox } from './sandbox/own.ts'

export interface OperatorDeps {
  readonly app: AppDeps
  readonly operators: OperatorStore
  readonly reads: OperatorReads
  readonly access: OperatorAccess
  readonly nodes: OperatorNodes
  readonly waits: EventWaits
  readonly places: Places
  readonly cursors: Cursors
  /** Or why there is none. */
  readonly sandbox: OwnSandbox | NoSandbox
  readonly replays: OneReplay
}
