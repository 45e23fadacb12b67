import type { Connection } from '@trunkline/core/domain/account'
import type { KeyId, UserKey } from '@trunkline/core/domain/ids'
import { isAlive, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { KnownToken, Store } from '@trunkline/core/ports/store'
import type { Hasher } from '@trunkline/core/ports/vault'

/** What a token grants: the data of one connection, for its user. */
export interface AccessGrant {
  readonly tokenHash: string
  readonly userKey: UserKey
  readonly connection: Connection
  /** The platform's key that created the token, and when that key, or its replaced secret, ends. The token's own end ends no session. */
  readonly keyId: KeyId | null
  readonly keyEndsAt: Timestamp | null
}

/** A token that is refused; the message may be shown. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused'
  readonly code: 'auth_error' | 'connection_broken'

  constructor(code: 'auth_error' | 'connection_broken', message: string) {
    super(message)
    this.code = code
  }
}

/** The user of a session that was passed through is owned by another node now. */
export class OwnedElsewhere extends Error {
  override readonly name = 'OwnedElsewhere'
}

/** One answer for every token that is no longer valid, so that it reveals nothing. */
export const TOKEN_INVALID =
  'The access token is unknown, has ended, or was followed by a newer one; get a new one with GET /connections/{connection_id}/token.'

/** Why a session ends if the key, or the secret, that created its token is no longer valid. */
export const KEY_ENDED = 'The platform’s key this token was had with has ended, or its secret was replaced; get a new access token.'

/** The grant of an access token. @throws AccessRefused */
export async function grantOf(
  { store, hasher, clock }: { readonly store: Pick<Store, 'tokens' | 'connections'>; readonly hasher: Hasher; readonly clock: Clock },
  accessToken: string
): Promise<AccessGrant> {
  const tokenHash = hasher.hash(accessToken)
  const token = await store.tokens.find(tokenHash)
  const now = clock.now()
  const isGood = token !== null && token.supersededAt === null && isAlive(token, now) && !hasEnded(token, now)
  if (!isGood) throw new AccessRefused('auth_error', TOKEN_INVALID)
  const connection = await store.connections.find(token.connectionId)
  if (connection === null) throw new AccessRefused('auth_error', TOKEN_INVALID)
  if (connection.status !== 'ACTIVE') {
    throw new AccessRefused(
      'connection_broken',
      'The broker rejects this connection; have the user connect it again, and get a token of the new one.'
    )
  }
  return { tokenHash, userKey: token.userKey, connection, keyId: token.keyId, keyEndsAt: token.keyEndsAt }
}

/** When the key of a used token ends; `over`: the token, or its key, is no longer valid. */
export async function keyEnd({ tokens }: Pick<Store, 'tokens'>, tokenHash: string, now: Timestamp): Promise<Timestamp | null | 'over'> {
  const token = await tokens.find(tokenHash)
  return token === null ? 'over' : endOfKey(token, now)
}

/** When the key of a token ends; `over`: it has ended. */
export function endOfKey(token: KnownToken, now: Timestamp): Timestamp | null | 'over' {
  return hasEnded(token, now) ? 'over' : token.keyEndsAt
}

function hasEnded({ keyEndsAt }: Pick<KnownToken, 'keyEndsAt'>, now: Timestamp): boolean {
  return keyEndsAt !== null && keyEndsAt <= now
}
