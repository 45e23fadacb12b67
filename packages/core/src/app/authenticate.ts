import type { Platform } from '../domain/account.ts'
import { ServiceError } from '../domain/errors.ts'
import type { PlatformId, UserId } from '../domain/ids.ts'
import type { PlatformKey, Scope } from '../domain/platform-key.ts'
import type { Timestamp } from '../domain/timestamp.ts'
import type { Clock } from '../ports/clock.ts'
import type { KnownKey, KnownUser } from '../ports/store.ts'
import type { Deps } from './deps.ts'

/** One message for every cause, so that nothing can be enumerated. */
const INVALID = 'The credentials are missing or invalid. Send client-id and client-secret, and for a user’s data user-id and user-secret.'

/** The one refusal of whatever credentials. `why` is for the operator: nothing of it is shown to the caller. */
export function credentialsInvalid(why?: string): ServiceError {
  return new ServiceError('credentials_invalid', INVALID, why === undefined ? {} : { cause: new Error(why) })
}

const LENGTH_MAX = 128
/** What a secret is compared with when its owner does not exist: the work is the same. */
const NOBODY = '0'.repeat(64)

/** Looks credentials up. What is remembered may only save the work of those who know the secret: otherwise the time would tell who exists. */
export interface CredentialLookup {
  /** As it was lately, or undefined; an implementation remembers for as long as it learns of every change, or not at all. */
  rememberedPlatform(clientId: string): KnownKey | undefined
  rememberedUser(platformId: PlatformId, userId: UserId): KnownUser | undefined
  /** As it is stored now. */
  platform(clientId: string): Promise<KnownKey | null>
  user(platformId: PlatformId, userId: UserId): Promise<KnownUser | null>
  /** Whether the key may be used from this address; null: it is not known. */
  admits(key: PlatformKey, address: string | null): boolean
  /** Called for every use of a key that went well. */
  used?(key: PlatformKey): void
}

/** What a platform says of itself, and where from. */
export interface GivenKey {
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly address: string | null
}

/** A platform whose key was proved. */
export interface ProvenPlatform {
  readonly platform: Platform
  readonly key: PlatformKey
  /** The hash that was met, by which it is found out later whether it still is one of the key's. */
  readonly secretHash: string
  /** When the key, or the replaced secret that was given, ends by itself. */
  readonly endsAt: Timestamp | null
}

/** @throws ServiceError credentials_invalid, the same for every cause; its own cause says which, for the operator. */
export async function authenticatePlatform(
  { hasher, clock }: Pick<Deps, 'hasher'> & { readonly clock: Pick<Clock, 'now'> },
  lookup: CredentialLookup,
  { clientId, clientSecret, address }: GivenKey
): Promise<ProvenPlatform> {
  const secretHash = hasher.hash(isSane(clientSecret) ? clientSecret : '')
  const remembered = isSane(clientId) ? lookup.rememberedPlatform(clientId) : undefined
  const known = fits(hasher, remembered, secretHash) ?? fits(hasher, isSane(clientId) ? await lookup.platform(clientId) : null, secretHash)
  if (known === null) throw credentialsInvalid()
  const { platform, key } = known
  const endsAt = validUntil(known, secretHash)
  const why = whyNot(known, endsAt, clock.now()) ?? (lookup.admits(key, address) ? null : 'the key may not be used from this address')
  if (why !== null) throw credentialsInvalid(why)
  lookup.used?.(key)
  return { platform, key, secretHash, endsAt }
}

/** The key, if the secret is one of its two. As much work where there is none. */
function fits(hasher: Deps['hasher'], known: KnownKey | null | undefined, secretHash: string): KnownKey | null {
  if (hasher.equal(secretHash, known?.secretHash ?? NOBODY) && known) return known
  return hasher.equal(secretHash, known?.previous?.secretHash ?? NOBODY) && known ? known : null
}

/** Whether what was proved once still holds. Null: it does not; otherwise when it ends by itself. */
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

/** The user, with the hash of the secret that proved it. @throws ServiceError credentials_invalid, the same for every cause. */
export async function authenticateUser(
  { hasher }: Pick<Deps, 'hasher'>,
  lookup: CredentialLookup,
  platform: Platform,
  userId: string | undefined,
  userSecret: string | undefined
): Promise<KnownUser> {
  const hash = hasher.hash(isSane(userSecret) ? userSecret : '')
  const remembered = isSane(userId) ? lookup.rememberedUser(platform.platformId, userId as UserId) : undefined
  if (hasher.equal(hash, remembered?.secretHash ?? NOBODY) && remembered !== undefined) return enabled(remembered)
  const known = isSane(userId) ? await lookup.user(platform.platformId, userId as UserId) : null
  const matches = hasher.equal(hash, known?.secretHash ?? NOBODY)
  if (known === null || !matches) throw credentialsInvalid()
  return enabled(known)
}

function enabled(known: KnownUser): KnownUser {
  if (known.disabledAt !== null) throw credentialsInvalid('the user is disabled')
  return known
}

function validUntil({ key, previous, secretHash: current }: KnownKey, secretHash: string): Timestamp | null {
  const until = secretHash === current ? null : (previous?.until ?? null)
  if (until === null || key.expiresAt === null) return until ?? key.expiresAt
  return until < key.expiresAt ? until : key.expiresAt
}

function whyNot({ key, isPlatformDisabled }: KnownKey, endsAt: Timestamp | null, now: Timestamp): string | null {
  if (isPlatformDisabled) return 'the platform is disabled'
  if (key.disabledAt !== null) return 'the key is disabled'
  return endsAt !== null && endsAt <= now ? 'the key or its replaced secret has ended' : null
}

function isSane(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text.length <= LENGTH_MAX
}
