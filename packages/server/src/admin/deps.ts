import type { OperatorEntries } from '@trunkline/core/app/operators/disabling'
import type { SettlingPorts } from '@trunkline/core/app/operators/settling'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { Bus } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { OperatorStore } from '@trunkline/core/ports/operator-store'
import type { AuditEntry, AuditStore, Store } from '@trunkline/core/ports/store'
import type { Hasher } from '@trunkline/core/ports/vault'
import type { WebhookPorts } from '@trunkline/core/ports/webhook-requests'
import type { Keys } from '../vault/index.ts'
import type { KeyChecks } from './key-check.ts'
import type { AuditVerdict, ChainHead, Run, SealedLine } from './operations.ts'

/** The audit log and its hash chain. */
export interface AuditChain extends AuditStore {
  verify(kept?: ChainHead): Promise<AuditVerdict>
  sealed(after: number, limit: number): Promise<readonly SealedLine[]>
  ofAbandoned(limit: number): Promise<readonly AuditEntry[]>
}

export interface AdminStore extends Pick<Store, 'platforms' | 'platformKeys' | 'users' | 'connections' | 'orders' | 'events' | 'webhooks'> {
  readonly audit: AuditChain
  readonly keyChecks: KeyChecks
  readonly operators: OperatorStore
}

/** What administration needs. The running service provides it, or the command line if none runs. */
export interface AdminDeps {
  readonly store: AdminStore
  readonly clock: Clock
  readonly ids: Ids
  readonly hasher: Pick<Hasher, 'hash'>
  readonly log: Log
  /** Publishes changes within the running service; null if none runs. */
  readonly bus: Pick<Bus, 'publish'> | null
  /** Ends orders as never received. Null if no service runs, because only a service can ask the broker. */
  readonly settling: SettlingPorts['settling'] | null
  /** Called when first needed, because most operations need no key. @throws KeyFileRefused */
  readonly keys: () => Keys
  /** `requests` is null if no service runs, because only a service sends. */
  readonly webhooks: Omit<WebhookPorts, 'requests'> & { readonly requests: WebhookPorts['requests'] | null }
  /** The file with the demo platform's credentials, which is updated with a new secret; null if there is none. */
  readonly demoFile: string | null
  /** The address at which users reach the service; null if it is not known, because none runs and no setting names it. */
  readonly publicUrl: string | null
}

/** Where no service runs, nobody listens. */
export const NO_BUS: Pick<Bus, 'publish'> = { publish() {} }

/** The audit entry of an operator's action. */
export function operatorEntry(
  at: Timestamp,
  run: Pick<Run, 'by'>,
  action: string,
  target: string,
  detail: AuditEntry['detail'] = {},
  result: AuditEntry['result'] = 'ok'
): AuditEntry {
  return { at, actor: 'operator', action, target, result, ip: null, requestId: null, detail: { by: run.by, ...detail } }
}

/** Entries of what the operator of this run does now. */
export function entriesOf({ clock }: Pick<AdminDeps, 'clock'>, run: Pick<Run, 'by'>): OperatorEntries {
  return (...entry) => operatorEntry(clock.now(), run, ...entry)
}
