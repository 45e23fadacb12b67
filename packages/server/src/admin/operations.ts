/** The operations for operators: names, inputs and outputs. */
import { type AbandonedOrder, SET_ORDERS_MAX } from '@trunkline/core/app/operators/settling'
import { ServiceError } from '@trunkline/core/domain/errors'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OperatorKey, OperatorSession } from '@trunkline/core/domain/operator'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry } from '@trunkline/core/ports/store'
import type { WebhookOperations } from './webhook-operations.ts'

export type { AbandonedOrder } from '@trunkline/core/app/operators/settling'

export interface Operations extends WebhookOperations {
  'platform.create': { readonly input: NewPlatform; readonly output: PlatformView & { readonly clientSecret: string } }
  'platform.edit': { readonly input: EditPlatform; readonly output: PlatformView }
  'platform.redirects': { readonly input: EditRedirects; readonly output: PlatformView }
  'platform.list': { readonly input: Nothing; readonly output: readonly PlatformView[] }
  'platform.rotate_secret': { readonly input: RotateSecret; readonly output: RotatedSecret }
  'platform.disable': { readonly input: NamedPlatform; readonly output: PlatformView }
  'platform.enable': { readonly input: NamedPlatform; readonly output: PlatformView }
  'key.create': { readonly input: NewKey; readonly output: KeyView & { readonly clientSecret: string } }
  'key.list': { readonly input: NamedPlatform; readonly output: readonly KeyView[] }
  'key.disable': { readonly input: NamedKey; readonly output: KeyView }
  'key.enable': { readonly input: NamedKey; readonly output: KeyView }
  'key.revoke': { readonly input: NamedKey; readonly output: KeyView }
  'user.disable': { readonly input: NamedUser; readonly output: UserView }
  'user.enable': { readonly input: NamedUser; readonly output: UserView }
  'keys.status': { readonly input: Nothing; readonly output: KeysStatus }
  'keys.rotate': { readonly input: RotateKeys; readonly output: Rotation }
  'orders.unresolved': { readonly input: { readonly limit: number }; readonly output: readonly UnresolvedOrder[] }
  'orders.abandoned': { readonly input: { readonly limit: number }; readonly output: readonly AbandonedOrder[] }
  'orders.settle': { readonly input: SettleOrder; readonly output: UnresolvedOrder }
  'orders.settle_all': { readonly input: SettleOrders; readonly output: SettledOrders }
  'operator.link': { readonly input: { readonly scopes: readonly string[] }; readonly output: OperatorLink }
  'operator.sessions': { readonly input: Nothing; readonly output: readonly OperatorSession[] }
  'operator.end_session': { readonly input: { readonly sessionId: string }; readonly output: { readonly sessionId: string } }
  'operator.key_create': { readonly input: NewOperatorKey; readonly output: OperatorKey & { readonly secret: string } }
  'operator.key_list': { readonly input: Nothing; readonly output: readonly OperatorKey[] }
  'operator.key_revoke': { readonly input: { readonly keyId: string }; readonly output: { readonly keyId: string } }
  'audit.verify': { readonly input: { readonly kept: ChainHead | null }; readonly output: AuditVerdict }
  'audit.export': { readonly input: ExportPage; readonly output: readonly SealedLine[] }
  'audit.list': { readonly input: { readonly limit: number }; readonly output: readonly AuditLine[] }
}
export type OperationName = keyof Operations
export type Input<Name extends OperationName> = Operations[Name]['input']
export type Output<Name extends OperationName> = Operations[Name]['output']

export type Nothing = Readonly<Record<string, never>>

export interface NewPlatform {
  readonly name: string
  /** Allowed redirect targets of its connections; if empty, any valid one is allowed. */
  readonly redirects: readonly string[]
  /** Whether it must claim each new connection with its user's credentials. */
  readonly claims: boolean
  /** `#rrggbb`; if absent, the portal's default. */
  readonly color?: string | null
  /** Where users return to the application; if absent, unknown. */
  readonly appUrl?: string | null
}

/** Absent fields stay unchanged; null removes the value. */
export interface EditPlatform extends NamedPlatform {
  readonly name?: string
  readonly color?: string | null
  readonly appUrl?: string | null
}

/** Changes the allowed redirect targets of a platform's connections. With both lists empty, only shows them. */
export interface EditRedirects {
  readonly platform: string
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

export interface PlatformView {
  readonly platformId: string
  readonly clientId: string
  readonly name: string
  readonly redirects: readonly string[]
  readonly claims: boolean
  readonly color: string | null
  readonly appUrl: string | null
  readonly createdAt: Timestamp
  /** Null if it is not disabled. */
  readonly disabledAt: Timestamp | null
}

export interface NamedPlatform {
  /** Its platform id, or the client id of its first key. */
  readonly platform: string
}

export interface NamedKey {
  /** Its client id. */
  readonly key: string
}

export interface NamedUser extends NamedPlatform {
  readonly userId: string
}

export interface UserView {
  readonly platformId: string
  readonly userId: string
  readonly disabledAt: Timestamp | null
}

export interface NewKey extends NamedPlatform {
  readonly name: string
  readonly scopes: readonly string[]
  /** Addresses and networks that it may be used from; if empty, any. */
  readonly addresses: readonly string[]
  readonly expiresAt: Timestamp | null
}

export interface KeyView {
  readonly keyId: string
  readonly clientId: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly addresses: readonly string[]
  readonly createdAt: Timestamp
  /** Accurate to the minute. */
  readonly lastUsedAt: Timestamp | null
  readonly expiresAt: Timestamp | null
  readonly disabledAt: Timestamp | null
}

/** A code that an operator exchanges for a session of the API for operators. */
export interface OperatorLink {
  readonly code: string
  /** Of the console, with the code in the fragment, which no server receives; null if the service's address is not known. */
  readonly url: string | null
  readonly scopes: readonly string[]
  readonly expiresAt: Timestamp
}

export interface NewOperatorKey {
  readonly name: string
  readonly scopes: readonly string[]
  readonly expiresAt: Timestamp | null
}

export interface RotateSecret {
  /** The client id of any key, or a platform id for its first key. */
  readonly platform: string
  /** How long the old secret still works; 0: it ends at once. */
  readonly overlapSeconds: number
}

export interface RotatedSecret extends KeyView {
  readonly platformId: string
  readonly platformName: string
  readonly redirects: readonly string[]
  readonly clientSecret: string
  /** Until when the old secret still works; null if it has ended. */
  readonly previousUntil: Timestamp | null
}

export interface RotateKeys {
  /** `add`: first adds a new key, unless an earlier rotation must be finished. `finish`: only re-wraps what is under other keys. */
  readonly mode: 'add' | 'finish'
  /** Whether to remove the old keys at the end; `now`: even if logins in progress may need them. */
  readonly retire: 'no' | 'when_safe' | 'now'
}

export interface Rotation {
  readonly source: KeysStatus['source']
  /** The current key. */
  readonly keyId: string
  readonly added: boolean
  /** An earlier rotation was incomplete and was finished instead. */
  readonly resumed: boolean
  readonly rewrapped: number
  readonly unreadable: readonly Unreadable[]
  readonly retired: readonly string[]
  /** When the old keys can be removed; null if there are none or they were removed. */
  readonly retireAfter: Timestamp | null
}

/** A stored secret that none of the master keys opens. */
export interface Unreadable {
  readonly place: 'connection' | 'revocation' | 'claim' | 'webhook_endpoint'
  /** Of the connection, or of the endpoint. */
  readonly id: string
  readonly why: string
}

export interface KeysStatus {
  readonly source: 'file' | 'environment'
  /** Null if the keys come from the environment. */
  readonly changedAt: Timestamp | null
  /** The present keys, the current one first, then missing keys; each with the number of stored credentials that need it. */
  readonly keys: readonly { readonly id: string; readonly state: 'current' | 'old' | 'missing'; readonly sealed: number }[]
  /** Stored values that are not valid ciphertexts. */
  readonly damaged: number
  /** False if there are more credentials than were counted. */
  readonly complete: boolean
}

/** An order as operators see it: its owner, and how far it got on its way to the broker. */
export interface UnresolvedOrder {
  readonly orderId: string
  readonly clOrdId: string
  readonly platformId: string
  readonly userId: string
  readonly connectionId: string
  readonly broker: string
  readonly accountNumber: string
  /** A description of the order. */
  readonly asks: string
  readonly entryTime: Timestamp
  readonly status: string
  readonly submission: string
}

/** Ends an order that the broker never received. */
export interface SettleOrder {
  readonly orderId: string
  /** How the operator knows; written to the audit log. */
  readonly because: string
  /** The broker cannot be asked; the operator checked its records by other means. */
  readonly unseen: boolean
}

/** Ends all unresolved orders that match, because the broker never received them. At least one of the three filters must be given. */
export interface SettleOrders extends Omit<SettleOrder, 'orderId'> {
  readonly broker: string | null
  readonly connectionId: string | null
  readonly olderThanHours: number | null
  /** The set that a dry run returned; null for a dry run, which ends nothing. */
  readonly expected: string | null
}

export interface SettledOrders {
  /** The number of unresolved orders that match, at most {@link ORDERS_LIMIT_MAX}. */
  readonly fitting: number
  /** Identifies the set of `orders`. */
  readonly set: string
  /** The orders that were ended or, in a dry run, would be. */
  readonly orders: readonly UnresolvedOrder[]
  readonly kept: readonly { readonly orderId: string; readonly why: string }[]
}

/** The end of the audit chain. Stored elsewhere, it later proves that nothing up to it was removed or rewritten. */
export interface ChainHead {
  readonly position: number
  /** SHA-256, lower-case hex. */
  readonly hash: string
}

export interface AuditVerdict {
  readonly entries: number
  readonly broken: { readonly position: number; readonly why: string } | null
  readonly head: ChainHead
}

/** A page of the chain: the entries after a position. */
export interface ExportPage {
  readonly after: number
  readonly limit: number
}

/** A chained entry as stored. */
export interface SealedLine {
  readonly position: number
  readonly entry: string
  readonly hash: string
}

export type AuditLine = AuditEntry & { readonly position: number | null }

/** The progress of a long operation. */
export interface Progress {
  readonly rewrapped: number
}

/** Who runs the operation, and how to report progress. */
export interface Run {
  /** The operator's own name; written to the audit log. */
  readonly by: string
  readonly signal: AbortSignal
  progress(progress: Progress): void
}

/** An operation that was refused. The message says why, and what to do. */
export class AdminRefused extends Error {
  override readonly name = 'AdminRefused'
}

/** What `work` refuses, as an operator reads it on the command line. @throws AdminRefused */
export async function asRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw cause instanceof ServiceError ? new AdminRefused(cause.message, { cause }) : cause
  }
}

export const REDIRECTS_MAX = 100
export const OVERLAP_SECONDS_MAX = 30 * 24 * 3_600
/** Also the most that one command ends. */
export const ORDERS_LIMIT_MAX = SET_ORDERS_MAX

/** Parses the id of a set of orders, as a dry run returns it. */
export function setName(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{16}$/.test(value)) return value
  throw new Malformed('end', 'the 16 hexadecimal digits that the same command shows without --end', value)
}

/** Parses `position:hash` as `audit verify` prints it. */
export function parseChainHead(text: string): ChainHead {
  const [, position, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (position === undefined) throw new Malformed('the chain head', 'position:hash as audit verify prints it', text)
  return { position: Number(position), hash }
}
