import type { ConnectionId } from '../../domain/ids.ts'
import { earlier, epochMs, type Timestamp, timestampOfMs } from '../../domain/timestamp.ts'
import { credentialsInvalid } from '../authenticate.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import type { Directory } from '../directory.ts'
import { marketConnection } from './market-connection.ts'

/** Life of a market data token at most. */
export const TOKEN_SECONDS = 24 * 60 * 60

/**
 * Creates a market data token for one connection; the user's older tokens of that connection are superseded. It expires no later than the
 * key, or the replaced secret, that it was requested with.
 * @throws ServiceError connection_not_found, or entitlement_missing if the connection is BROKEN or its broker has no market data.
 */
export async function issueToken(
  {
    store,
    clock,
    ids,
    hasher,
    brokers,
    directory
  }: Pick<Deps, 'store' | 'clock' | 'ids' | 'hasher' | 'brokers'> & { readonly directory: Directory },
  caller: UserCaller,
  connectionId: ConnectionId
): Promise<{ readonly accessToken: string; readonly expiresAt: Timestamp; readonly expiresInSeconds: number }> {
  const connection = await marketConnection({ directory, brokers }, caller, connectionId)
  const accessToken = ids.secret('mdt_')
  const createdAt = clock.now()
  const lifeEnds = timestampOfMs(epochMs(createdAt) + TOKEN_SECONDS * 1_000)
  const expiresAt = earlier(lifeEnds, caller.keyProof?.endsAt ?? null) ?? lifeEnds
  const token = {
    tokenHash: hasher.hash(accessToken),
    userKey: connection.userKey,
    keyId: caller.key?.keyId ?? null,
    keySecretHash: caller.keyProof?.secretHash ?? null,
    ...{ connectionId, createdAt, expiresAt, supersededAt: null }
  }
  // A secret that was replaced, or a connection that was deleted, during this request gets no token that outlives it.
  if (!(await store.tokens.create(token, audited(clock, caller, 'token.issue', connectionId), caller.secretHash ?? null))) {
    await marketConnection({ directory, brokers }, caller, connectionId)
    throw credentialsInvalid()
  }
  const expiresInSeconds = Math.floor((epochMs(expiresAt) - epochMs(createdAt)) / 1_000)
  return { accessToken, expiresAt, expiresInSeconds }
}
