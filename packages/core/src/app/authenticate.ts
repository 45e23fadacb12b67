import type { Platform, User } from '../domain/account.ts'
import { ServiceError } from '../domain/errors.ts'
import type { PlatformId, UserId } from '../domain/ids.ts'
import type { Deps } from './deps.ts'

/** One message for every cause, so that nothing can be enumerated. */
const INVALID = 'The credentials are missing or invalid. Send client-id and client-secret, and for a user’s data user-id and user-secret.'

const LENGTH_MAX = 128
/** What a secret is compared with when its owner does not exist: the work is the same. */
const NOBODY = '0'.repeat(64)

/** Looks credentials up; an implementation may remember answers for as long as it learns of every change. */
export interface CredentialLookup {
  platform(clientId: string): Promise<{ readonly platform: Platform; readonly secretHash: string } | null>
  user(platformId: PlatformId, userId: UserId): Promise<{ readonly user: User; readonly secretHash: string } | null>
}

/** @throws ServiceError credentials_invalid, the same for every cause. */
export async function authenticatePlatform(
  { hasher }: Pick<Deps, 'hasher'>,
  lookup: CredentialLookup,
  clientId: string | undefined,
  clientSecret: string | undefined
): Promise<Platform> {
  const known = isSane(clientId) ? await lookup.platform(clientId) : null
  const matches = hasher.equal(hasher.hash(isSane(clientSecret) ? clientSecret : ''), known?.secretHash ?? NOBODY)
  if (known === null || !matches) throw new ServiceError('credentials_invalid', INVALID)
  return known.platform
}

/** @throws ServiceError credentials_invalid, the same for every cause. */
export async function authenticateUser(
  { hasher }: Pick<Deps, 'hasher'>,
  lookup: CredentialLookup,
  platform: Platform,
  userId: string | undefined,
  userSecret: string | undefined
): Promise<User> {
  const known = isSane(userId) ? await lookup.user(platform.platformId, userId as UserId) : null
  const matches = hasher.equal(hasher.hash(isSane(userSecret) ? userSecret : ''), known?.secretHash ?? NOBODY)
  if (known === null || !matches) throw new ServiceError('credentials_invalid', INVALID)
  return known.user
}

function isSane(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text.length <= LENGTH_MAX
}
