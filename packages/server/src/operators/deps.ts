// What operations of the API for operators stand on.
import type { AppDeps } from '@trunkline/core/app/application'
import type { PractisingUsers } from '@trunkline/core/app/operators/practising-user'
import type { AbandonedEntries, SettlingPorts } from '@trunkline/core/app/operators/settling'
import type { OperatorReads } from '@trunkline/core/ports/operator-reads'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { WebhookPorts } from '@trunkline/core/ports/webhook-requests'
import type { Cursors } from '../http/cursor.ts'
import type { Service } from '../http/endpoint.ts'
import type { OperatorAccess } from './access.ts'
import type { EventWaits } from './event-wait.ts'
import type { OperatorNodes } from './nodes/index.ts'
import type { OwnersChanges } from './nodes/owners.ts'
import type { Places } from './places.ts'
import type { ProviderLogins } from './provider-logins.ts'
import type { OneReplay } from './replay/one-at-a-time.ts'
import type { NoSandbox, OwnSandbox } from './sandbox/own.ts'

export interface OperatorDeps {
  readonly app: AppDeps
  readonly operators: OperatorStore
  readonly reads: OperatorReads
  readonly settling: SettlingPorts['settling']
  readonly abandoned: AbandonedEntries
  readonly webhooks: WebhookPorts
  readonly access: OperatorAccess
  readonly nodes: OperatorNodes
  readonly changes: OwnersChanges
  /** Null: operators log in with codes only. */
  readonly logins: ProviderLogins | null
  readonly waits: EventWaits
  readonly places: Places
  readonly cursors: Cursors
  /** Or why there is none. */
  readonly sandbox: OwnSandbox | NoSandbox
  readonly replays: OneReplay
  /** What endpoints of the platforms' API stand on when operators trade by them: it knows users of the sandbox only. */
  readonly trading: Service & { readonly deps: { readonly directory: PractisingUsers } }
}
