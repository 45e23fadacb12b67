import type { Platform, User } from '../domain/account.ts'
import { ServiceError } from '../domain/errors.ts'
import type { PlatformId, UserId } from '../domain/ids.ts'
import type { Deps } from './deps.ts'

/** One message for every cause, so that nothing can be enumerated. */
const INVALID = 'The credentials are missing or invalid. Send client-id and client-secret, and for a user’s data user-id and user-secret.'

/** The one refusal of whatever credentials. */
export function credentialsInvalid(): ServiceError {
  return new ServiceError('credentials_invalid', INVALID)
}

const LENGTH_MAX = 128
/** What a secret is compared with when its owner does not exist: the work is the same. */
const NOBODY = '0'.repeat(64)

export interface KnownPlatform {
  readonly platform: Platform
  readonly secretHash: string
}

export interface KnownUser {
  readonly user: User
  readonly secretHash: string
}

/** Looks credentials up. What is remembered may only save the work of those who know the secret: otherwise the time would tell who exists. */
export interface CredentialLookup {
  /** As it was lately, or undefined; an implementation remembers for as long as it learns of every change, or not at all. */
  rememberedPlatform(clientId: string): KnownPlatform | undefined
  rememberedUser(platformId: PlatformId, userId: UserId): KnownUser | undefined
  /** As it is stored now. */
  platform(clientId: string): Promise<KnownPlatform | null>
  user(platformId: PlatformId, userId: UserId): Promise<KnownUser | null>
}

/** @throws ServiceError credentials_invalid, the same for every cause. */
export async function authenticatePlatform(
  { hasher }: Pick<Deps, 'hasher'>,
  lookup: CredentialLookup,
  clientId: string | undefined,
  clientSecret: string | undefined
): Promise<Platform> {
  const hash = hasher.hash(isSane(clientSecret) ? clientSecret : '')
  const remembered = isSane(clientId) ? lookup.rememberedPlatform(clientId) : undefined
  if (hasher.equal(hash, remembered?.secretHash ?? NOBODY) && remembered !== undefined) return remembered.platform
  const known = isSane(clientId) ? await lookup.platform(clientId) : null
  const matches = hasher.equal(hash, known?.secretHash ?? NOBODY)
  if (known === null || !matches) throw credentialsInvalid()
  return known.platform
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
  if (hasher.equal(hash, remembered?.secretHash ?? NOBODY) && remembered !== undefined) return remembered
  const known = isSane(userId) ? await lookup.user(platform.platformId, userId as UserId) : null
  const matches = hasher.equal(hash, known?.secretHash ?? NOBODY)
  if (known === null || !matches) throw credentialsInvalid()
  return known
}

function isSane(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text.length <= LENGTH_MAX
}
