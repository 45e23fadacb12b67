/** What an operator can have done by a service, or by the command line itself: names, inputs and outputs. */
import { Malformed } from '@trunkline/core/domain/malformed'
import { SCOPES } from '@trunkline/core/domain/platform-key'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { AuditEntry } from '@trunkline/core/ports/store'
import { parseColor } from '../ops/color.ts'
import { field, NAME_LENGTH_MAX, oneOf, orNull, printable, texts, timeOrNull, uuid, whole, yesOrNo } from './inputs.ts'

export interface Operations {
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
  /** Redirect targets its connections may use, as raw texts; none: any valid one. */
  readonly redirects: readonly string[]
  /** Whether it confirms each new connection with its user's own credentials. */
  readonly claims: boolean
  /** `#rrggbb`; left out: the portal's own. */
  readonly color?: string | null
  /** Where its users find it again; left out: unknown. */
  readonly appUrl?: string | null
}

/** What is left out stays as it is; null takes it away. */
export interface EditPlatform extends NamedPlatform {
  readonly name?: string
  readonly color?: string | null
  readonly appUrl?: string | null
}

/** Changes the redirect targets that a platform's connections may use; neither: only shows them. */
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
  /** Null: it is not disabled. */
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
  /** Where it may be used from: addresses and networks; none: from anywhere. */
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
  /** To the minute. */
  readonly lastUsedAt: Timestamp | null
  readonly expiresAt: Timestamp | null
  readonly disabledAt: Timestamp | null
}

export interface RotateSecret {
  /** The client id of any key, or a platform id for its first. */
  readonly platform: string
  /** How long the replaced secret stays good; 0: it ends at once. */
  readonly overlapSeconds: number
}

export interface RotatedSecret extends KeyView {
  readonly platformId: string
  readonly platformName: string
  readonly redirects: readonly string[]
  readonly clientSecret: string
  /** Null: the replaced secret has ended. */
  readonly previousUntil: Timestamp | null
}

export interface RotateKeys {
  /** `add`: a fresh key first, unless an earlier rotation has to be finished. `finish`: only re-wrap what is not under the current key. */
  readonly mode: 'add' | 'finish'
  /** Drop the old keys in the end; `now` although logins in flight may still need them. */
  readonly retire: 'no' | 'when_safe' | 'now'
}

export interface Rotation {
  readonly source: KeysStatus['source']
  /** The current key. */
  readonly keyId: string
  readonly added: boolean
  /** An earlier rotation was found unfinished, and was finished instead. */
  readonly resumed: boolean
  readonly rewrapped: number
  readonly unreadable: readonly Unreadable[]
  readonly retired: readonly string[]
  /** When the old keys can be dropped; null when there are none, or they were. */
  readonly retireAfter: Timestamp | null
}

/** A stored secret that no key here opens. */
export interface Unreadable {
  readonly place: 'connection' | 'revocation' | 'claim'
  readonly connectionId: string
  readonly why: string
}

export interface KeysStatus {
  readonly source: 'file' | 'environment'
  /** Null when the environment gives the keys. */
  readonly changedAt: Timestamp | null
  /** Keys here, the current one first, and keys that are missing; with how many stored credentials need each. */
  readonly keys: readonly { readonly id: string; readonly state: 'current' | 'old' | 'missing'; readonly sealed: number }[]
  /** Stored bytes that are no seal at all. */
  readonly damaged: number
  /** False when there are more than were counted. */
  readonly complete: boolean
}

/** An order as an operator sees it: whose it is, and what is known of its way to the broker. */
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

/** An order whose connection was removed before its broker said what became of it, as the audit log has it: nothing else is left of it. */
export interface AbandonedOrder {
  readonly orderId: string
  readonly removedAt: Timestamp
  /** The members of the audit entry `order.abandoned`. */
  readonly detail: AuditEntry['detail']
}

/** The broker never received the order. */
export interface SettleOrder {
  readonly orderId: string
  /** How the operator knows; written to the audit log. */
  readonly because: string
  /** The broker cannot be asked, and the operator has checked its records by other means. */
  readonly unseen: boolean
}

/** The broker received none of the orders of unknown outcome that fit. At least one of the three is given. */
export interface SettleOrders extends Omit<SettleOrder, 'orderId'> {
  readonly broker: string | null
  readonly connectionId: string | null
  readonly olderThanHours: number | null
  /** The set that a dry run has shown; null: a dry run, which ends nothing. */
  readonly expected: string | null
}

export interface SettledOrders {
  /** Orders of unknown outcome that fit, at most {@link ORDERS_LIMIT_MAX}. */
  readonly fitting: number
  /** Identifies the set of `orders`. */
  readonly set: string
  /** Those that were ended; on trial, those that would be. */
  readonly orders: readonly UnresolvedOrder[]
  readonly kept: readonly { readonly orderId: string; readonly why: string }[]
}

/** The end of the audit chain. Kept elsewhere, it later proves that nothing up to it was cut off or rewritten. */
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

/** A part of the chain: entries after a position. */
export interface ExportPage {
  readonly after: number
  readonly limit: number
}

/** A chained entry as it is stored. */
export interface SealedLine {
  readonly position: number
  readonly entry: string
  readonly hash: string
}

export type AuditLine = AuditEntry & { readonly position: number | null }

/** How far a long operation is. */
export interface Progress {
  readonly rewrapped: number
}

/** Who asked, and how to report progress. */
export interface Run {
  /** The operator as they call themselves; written to the audit log. */
  readonly by: string
  readonly signal: AbortSignal
  progress(progress: Progress): void
}

/** An operation that was not done, for a reason that the message gives, with what to do. */
export class AdminRefused extends Error {
  override readonly name = 'AdminRefused'
}

export const REDIRECTS_MAX = 100
const ADDRESSES_MAX = 50
export const OVERLAP_SECONDS_MAX = 30 * 24 * 3_600
const AUDIT_LIMIT_MAX = 10_000
/** Also the most that are ended at once. */
export const ORDERS_LIMIT_MAX = 1_000
const HOURS_MAX = 9_999

/** Reads inputs that came over the socket. Each throws Malformed naming what is wrong. */
export const INPUT_PARSERS: { readonly [Name in OperationName]: (input: unknown) => Input<Name> } = {
  'platform.create': input => ({
    name: printable(field(input, 'name'), 'name', NAME_LENGTH_MAX),
    redirects: redirects(field(input, 'redirects')),
    claims: yesOrNo(field(input, 'claims'), 'claims'),
    ...brand(input)
  }),
  'platform.edit': input => {
    const name = field(input, 'name')
    return { ...namedPlatform(input), ...(name === undefined ? {} : { name: printable(name, 'name', NAME_LENGTH_MAX) }), ...brand(input) }
  },
  'platform.redirects': input => ({
    ...namedPlatform(input),
    add: redirects(field(input, 'add')),
    remove: redirects(field(input, 'remove'))
  }),
  'platform.list': () => ({}),
  'platform.rotate_secret': input => ({
    ...namedPlatform(input),
    overlapSeconds: whole(field(input, 'overlapSeconds'), 'overlap', 0, OVERLAP_SECONDS_MAX)
  }),
  'platform.disable': namedPlatform,
  'platform.enable': namedPlatform,
  'key.create': input => ({
    ...namedPlatform(input),
    name: printable(field(input, 'name'), 'name', 100),
    scopes: texts(field(input, 'scopes'), 'scope', SCOPES.length),
    addresses: texts(field(input, 'addresses'), 'address', ADDRESSES_MAX),
    expiresAt: timeOrNull(field(input, 'expiresAt'))
  }),
  'key.list': namedPlatform,
  'key.disable': namedKey,
  'key.enable': namedKey,
  'key.revoke': namedKey,
  'user.disable': namedUser,
  'user.enable': namedUser,
  'keys.status': () => ({}),
  'keys.rotate': input => ({
    mode: oneOf(field(input, 'mode'), 'mode', ['add', 'finish']),
    retire: oneOf(field(input, 'retire'), 'retire', ['no', 'when_safe', 'now'])
  }),
  'orders.unresolved': input => ({ limit: whole(field(input, 'limit'), 'limit', 1, ORDERS_LIMIT_MAX) }),
  'orders.abandoned': input => ({ limit: whole(field(input, 'limit'), 'limit', 1, ORDERS_LIMIT_MAX) }),
  'orders.settle': input => ({
    orderId: uuid(field(input, 'orderId'), 'order_id'),
    because: printable(field(input, 'because'), 'because', 200),
    unseen: yesOrNo(field(input, 'unseen'), 'unseen')
  }),
  'orders.settle_all': input => ({
    broker: orNull(field(input, 'broker'), broker => printable(broker, 'broker', 64)),
    connectionId: orNull(field(input, 'connectionId'), id => uuid(id, 'connection_id')),
    olderThanHours: orNull(field(input, 'olderThanHours'), hours => whole(hours, 'older than', 1, HOURS_MAX)),
    expected: orNull(field(input, 'expected'), setName),
    because: printable(field(input, 'because'), 'because', 200),
    unseen: yesOrNo(field(input, 'unseen'), 'unseen')
  }),
  'audit.verify': input => ({ kept: expectedHead(field(input, 'kept')) }),
  'audit.export': input => ({
    after: whole(field(input, 'after'), 'after', 0, Number.MAX_SAFE_INTEGER),
    limit: whole(field(input, 'limit'), 'limit', 1, AUDIT_LIMIT_MAX)
  }),
  'audit.list': input => ({ limit: whole(field(input, 'limit'), 'limit', 1, AUDIT_LIMIT_MAX) })
}

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(INPUT_PARSERS, name)
}

/** The name of a set of orders. */
export function setName(value: unknown): string {
  if (typeof value === 'string' && /^[0-9a-f]{16}$/.test(value)) return value
  throw new Malformed('end', 'the 16 hexadecimal digits that the same command shows without --end', value)
}

/** `position:hash` as `audit verify` prints it. */
export function parseChainHead(text: string): ChainHead {
  const [, position, hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (position === undefined) throw new Malformed('the kept end', 'position:hash as audit verify prints it', text)
  return { position: Number(position), hash }
}

function namedPlatform(input: unknown): NamedPlatform {
  return { platform: printable(field(input, 'platform'), 'platform', 64) }
}

/** Where a member is missing, so it is in what is given. */
function brand(input: unknown): Pick<EditPlatform, 'color' | 'appUrl'> {
  const [color, appUrl] = [field(input, 'color'), field(input, 'appUrl')]
  return {
    ...(color === undefined ? {} : { color: orNull(color, parseColor) }),
    ...(appUrl === undefined ? {} : { appUrl: orNull(appUrl, url => printable(url, 'app_url', 2_048)) })
  }
}

function namedKey(input: unknown): NamedKey {
  return { key: printable(field(input, 'key'), 'key', 64) }
}

function namedUser(input: unknown): NamedUser {
  return { ...namedPlatform(input), userId: printable(field(input, 'userId'), 'user_id', 64) }
}

function redirects(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length <= REDIRECTS_MAX) return value.map(item => printable(item, 'redirect', 2_048))
  throw new Malformed('redirects', `at most ${REDIRECTS_MAX} addresses`, value)
}

function expectedHead(value: unknown): ChainHead | null {
  if (value === null || value === undefined) return null
  return parseChainHead(`${String(field(value, 'position'))}:${String(field(value, 'hash'))}`)
}
