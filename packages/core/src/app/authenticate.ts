import type { Platform } from '../domain/account.ts'
import { ServiceError } from '../domain/errors.ts'
import type { PlatformId, UserId } from '../domain/ids.ts'
import type { PlatformKey, Scope } from '../domain/platform-key.ts'
import { earlier, type Timestamp } from '../domain/timestamp.ts'
import type { Clock } from '../ports/clock.ts'
import type { KnownKey, KnownUser } from '../ports/store.ts'
import type { Deps } from './deps.ts'

/** One message for every cause, so that nothing can be enumerated. */
const INVALID = 'The credentials are missing or invalid. Send client-id and client-secret, and for a user’s data user-id and user-secret.'

/** The error for any invalid credentials. `why` is for the operator and is not shown to the caller. */
export function credentialsInvalid(why?: string): ServiceError {
  return new ServiceError('credentials_invalid', INVALID, why === undefined ? {} : { cause: new Error(why) })
}

const LENGTH_MAX = 128
/** Looked up instead of a name that no user can have, so that the refusal takes the same work. The result is not used. */
const NO_NAME = ' '
/** Compared with the secret if its owner does not exist, so that the work is the same. */
const NO_HASH = '0'.repeat(64)

/**
 * Looks credentials up. A cached entry may only save work for callers that know the secret; otherwise response times would reveal which
 * names exist.
 */
export interface CredentialLookup {
  /** The cached entry, or undefined. An implementation caches only while it is notified of every change. */
  rememberedPlatform(clientId: string): KnownKey | undefined
  rememberedUser(platformId: PlatformId, userId: UserId): KnownUser | undefined
  /** The stored entry. */
  platform(clientId: string): Promise<KnownKey | null>
  user(platformId: PlatformId, userId: UserId): Promise<KnownUser | null>
  /** Whether the key may be used from this address; null: the address is unknown. */
  admits(key: PlatformKey, address: string | null): boolean
  /** Called after every successful use of a key. */
  used?(key: PlatformKey): void
}

/** The credentials that a platform sent, and the address that they came from. */
export interface GivenKey {
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly address: string | null
}

/** A platform whose key was proved. */
export interface ProvenPlatform {
  readonly platform: Platform
  readonly key: PlatformKey
  /** The hash that matched; used later to check that it is still one of the key's. */
  readonly secretHash: string
  /** When the key, or the replaced secret that was sent, expires. */
  readonly endsAt: Timestamp | null
}

/** One check of a secret. */
export interface Attempt {
  readonly of: 'key' | 'user' | 'token'
  readonly address: string | null
  /** The claimed owner of the secret; null: not given. */
  readonly name: string | null
  readonly secretHash: string
}

/** The name under which a user's attempts are counted. */
export function userName(platformId: PlatformId, userId: string): string {
  return `${platformId} ${userId}`
}

/** Limits wrong attempts. */
export interface AttemptLimits {
  /** Called before every look-up; one of the other methods follows. @throws ServiceError rate_limited */
  demandCalm(attempt: Attempt): void
  /** Called for every wrong attempt. @throws ServiceError rate_limited if that is to be the response */
  failed(attempt: Attempt): void
  proved(attempt: Attempt): void
  /** Called if the look-up itself failed. */
  undecided(attempt: Attempt): void
}

/** @throws what the limits and the look-up throw. */
async function lookedUp<T>(limits: AttemptLimits | undefined, attempt: Attempt, look: () => Promise<T>): Promise<T> {
  limits?.demandCalm(attempt)
  try {
    return await look()
  } catch (cause) {
    limits?.undecided(attempt)
    throw cause
  }
}

/**
 * Does the same work whatever is wrong: a cached entry shortens the work only for callers that are admitted.
 * @throws ServiceError credentials_invalid, the same for every reason; its `cause` names the reason, for the operator. What `limits` throw.
 */
export async function authenticatePlatform(
  { hasher, clock }: Pick<Deps, 'hasher'> & { readonly clock: Pick<Clock, 'now'> },
  lookup: CredentialLookup,
  { clientId, clientSecret, address }: GivenKey,
  limits?: AttemptLimits
): Promise<ProvenPlatform> {
  const secretHash = hasher.hash(isSane(clientSecret) ? clientSecret : '')
  const name = isSane(clientId) ? clientId : null
  const attempt: Attempt = { of: 'key', address, name, secretHash }
  const proofOf = (known: KnownKey | null | undefined) => proof(hasher, lookup, known, secretHash, clock.now(), address)
  let found = proofOf(name === null ? undefined : lookup.rememberedPlatform(name))
  if (typeof found === 'string') {
    const stored = await lookedUp(limits, attempt, () => lookup.platform(name ?? NO_NAME))
    found = proofOf(name === null ? null : stored)
  }
  if (typeof found === 'string') {
    limits?.failed(attempt)
    throw credentialsInvalid(found)
  }
  limits?.proved(attempt)
  lookup.used?.(found.key)
  return found
}

const WRONG = 'there is no such client, or the secret is wrong'

/**
 * What the secret proves, or, for the operator, why it proves nothing. Compares with both of a key's secrets, or with as many placeholders.
 */
function proof(
  hasher: Deps['hasher'],
  lookup: CredentialLookup,
  known: KnownKey | null | undefined,
  secretHash: string,
  now: Timestamp,
  address: string | null
): ProvenPlatform | string {
  const isCurrent = hasher.equal(secretHash, known?.secretHash ?? NO_HASH)
  const isPrevious = hasher.equal(secretHash, known?.previous?.secretHash ?? NO_HASH)
  if (!known || !(isCurrent || isPrevious)) return WRONG
  const { platform, key } = known
  const endsAt = validUntil(known, secretHash)
  const why = whyNot(known, endsAt, now) ?? (lookup.admits(key, address) ? null : 'the key may not be used from this address')
  return why ?? { platform, key, secretHash, endsAt }
}

/** Whether earlier proof still holds: null if not, otherwise when it expires. */
export function stillProven(
  known: KnownKey | null,
  { secretHash }: Pick<ProvenPlatform, 'secretHash'>,
  now: Timestamp
): { readonly endsAt: Timestamp | null } | null {
  if (known === null || (secretHash !== known.secretHash && secretHash !== known.previous?.secretHash)) return null
  const endsAt = validUntil(known, secretHash)
  return whyNot(known, endsAt, now) === null ? { endsAt } : null
}

/** @throws ServiceError scope_missing */
export function demandScope(key: PlatformKey, scope: Scope): void {
  if (key.scopes.includes(scope)) return
  const has = key.scopes.join(', ')
  throw new ServiceError(
    'scope_missing',
    `This needs a key with the scope ${scope}; this one has ${has}. Use another key, or have the operator make one.`
  )
}

/** A user's credentials, and their address; null: unknown. */
export interface GivenUser {
  readonly userId: string | undefined
  readonly userSecret: string | undefined
  readonly address: string | null
}

/**
 * The user, with the hash of the secret that proved it. The platform has already proved its key, so failures of its address are ignored
 * here: one user must not lock out the platform's others. @throws ServiceError credentials_invalid, the same for every cause. What `limits`
 * throw.
 */
export async function authenticateUser(
  { hasher }: Pick<Deps, 'hasher'>,
  lookup: CredentialLookup,
  { platformId }: Platform,
  { userId, userSecret, address }: GivenUser,
  limits?: AttemptLimits
): Promise<KnownUser> {
  const secretHash = hasher.hash(isSane(userSecret) ? userSecret : '')
  const name = isSane(userId) ? (userId as UserId) : null
  const proofOf = (known: KnownUser | null | undefined) => (hasher.equal(secretHash, known?.secretHash ?? NO_HASH) && known ? known : null)
  const remembered = proofOf(name === null ? undefined : lookup.rememberedUser(platformId, name))
  if (remembered !== null && remembered.disabledAt === null) return remembered
  const attempt: Attempt = { of: 'user', address: null, name: name === null ? null : userName(platformId, name), secretHash }
  const stored = await lookedUp(limits, attempt, () => lookup.user(platformId, name ?? (NO_NAME as UserId)))
  const known = proofOf(name === null ? null : stored)
  if (known === null || known.disabledAt !== null) {
    limits?.failed(attempt)
    limits?.failed({ ...attempt, address, name: null })
    throw credentialsInvalid(known === null ? undefined : 'the user is disabled')
  }
  limits?.proved(attempt)
  return known
}

function validUntil({ key, previous, secretHash: current }: KnownKey, secretHash: string): Timestamp | null {
  return earlier(key.expiresAt, secretHash === current ? null : (previous?.until ?? null))
}

function whyNot({ key, isPlatformDisabled }: KnownKey, endsAt: Timestamp | null, now: Timestamp): string | null {
  if (isPlatformDisabled) return 'the platform is disabled'
  if (key.disabledAt !== null) return 'the key is disabled'
  return endsAt !== null && endsAt <= now ? 'the key or its replaced secret has ended' : null
}

/**
 * Whether it can be a name or a secret at all. Text that a database cannot store (NUL, half a surrogate pair) must not reach it in a query
 * either.
 */
function isSane(text: string | undefined): text is string {
  if (text === undefined || text === '' || text.length > LENGTH_MAX) return false
  // Almost all are ASCII, which is tested several times faster.
  return /^[ -~]+$/.test(text) || !/[\p{Cc}\p{Cs}]/u.test(text)
}
