import type { Connection } from '@trunkline/core/domain/account'
import type { KeyId, UserKey } from '@trunkline/core/domain/ids'
import { isAlive } from '@trunkline/core/domain/timestamp'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Store } from '@trunkline/core/ports/store'
import type { Hasher } from '@trunkline/core/ports/vault'

/** What a token gives: the data of one connection, for its user. */
export interface Pass {
  readonly tokenHash: string
  readonly userKey: UserKey
  readonly connection: Connection
  /** The platform's key the token was had with. */
  readonly keyId: KeyId | null
}

/** A token that admits nobody; the message is fit to show. */
export class AccessRefused extends Error {
  override readonly name = 'AccessRefused'
  readonly code: 'auth_error' | 'connection_broken'

  constructor(code: 'auth_error' | 'connection_broken', message: string) {
    super(message)
    this.code = code
  }
}

/** One answer for every token that is not good any more, so that nothing can be told from it. */
export const NOT_GOOD =
  'The access token is unknown, has ended, or was followed by a newer one; get a new one with GET /connections/{connection_id}/token.'

/** The pass behind an access token. @throws AccessRefused */
export async function admitted(
  { store, hasher, clock }: { readonly store: Pick<Store, 'tokens' | 'connections'>; readonly hasher: Hasher; readonly clock: Clock },
  accessToken: string
): Promise<Pass> {
  const tokenHash = hasher.hash(accessToken)
  const token = await store.tokens.find(tokenHash)
  if (token === null || token.supersededAt !== null || !isAlive(token, clock.now())) throw new AccessRefused('auth_error', NOT_GOOD)
  const connection = await store.connections.find(token.connectionId)
  if (connection === null) throw new AccessRefused('auth_error', NOT_GOOD)
  if (connection.status !== 'ACTIVE') {
    throw new AccessRefused(
      'connection_broken',
      'The broker rejects this connection; have the user connect it again, and get a token of the new one.'
    )
  }
  return { tokenHash, userKey: token.userKey, connection, keyId: token.keyId }
}
