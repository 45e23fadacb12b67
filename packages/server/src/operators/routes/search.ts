import { type ConnectionId, type OrderId, type PlatformId, parseUserId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Static } from 'typebox'
import { plainText, required } from '../../http/params.ts'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, operation } from '../endpoint.ts'
import { hitList, type hitRow } from '../records.ts'

type Hit = Static<typeof hitRow>
/** A name of a user is looked up at this many platforms, the oldest first. */
const PLATFORMS_MAX = 100
/** So many accounts with one number are shown. */
const ACCOUNTS_MAX = 20

export const SEARCH: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/search',
    scope: 'read',
    operationId: 'searchById',
    tag: 'Service',
    summary: 'Find what has an id',
    description:
      'One exact id: of a platform (`platform_id`, `client_id`), a user (`user_key`, `user_id`), a connection, an account (`account_id`, `account_number`), an order or a request. Nothing is scanned for.',
    query: { q: required(plainText(128, 'The id.', '01a1fc41-07d8-7000-8a63-5c2f1e0d9b72')) },
    success: { status: 200, description: 'What has it.', schema: hitList },
    async handle({ query: { q } }, deps) {
      const [byId, byName] = await Promise.all([withUuid(q, deps), withName(q, deps)])
      return { data: [...byId, ...byName] }
    }
  })
]

async function withUuid(q: string, { app: { store } }: OperatorDeps): Promise<readonly Hit[]> {
  const id = readOrNull(() => parseUuid<PlatformId>(q, 'q'))
  if (id === null) return []
  const [platform, user, connection, order] = await Promise.all([
    store.platforms.find(id),
    store.users.findByKey(parseUuid<UserKey>(q, 'q')),
    store.connections.find(parseUuid<ConnectionId>(q, 'q')),
    store.orders.find(parseUuid<OrderId>(q, 'q'))
  ])
  return [
    ...(platform === null ? [] : [platformHit(platform)]),
    ...(user === null ? [] : [hit('user', user.userKey, user.userId, user)]),
    ...(connection === null
      ? []
      : [hit('connection', connection.connectionId, `${connection.broker} of ${connection.userId}`, connection)]),
    ...(order === null ? [] : [hit('order', order.orderId, `${order.clOrdId} of ${order.userId}`, order)])
  ]
}

async function withName(q: string, { app: { store }, nodes, reads }: OperatorDeps): Promise<readonly Hit[]> {
  const [key, request, accounts] = await Promise.all([
    store.platforms.findByClientId(q),
    nodes.findRequest(q),
    reads.accountsWith(q, ACCOUNTS_MAX)
  ])
  const userId = readOrNull(() => parseUserId(q))
  const platforms = userId === null ? [] : (await store.platforms.list()).slice(0, PLATFORMS_MAX)
  const users: Hit[] = []
  for (const { platformId, name } of platforms) {
    const known = userId === null ? null : await store.users.find(platformId, userId)
    if (known !== null) users.push(hit('user', known.user.userKey, `${known.user.userId} of ${name}`, known.user))
  }
  return [
    ...(key === null ? [] : [platformHit(key.platform)]),
    ...users,
    ...accounts.map(account => hit('account', account.accountId, `${account.broker} ${account.accountNumber}`, account)),
    ...(request === null
      ? []
      : [
          {
            kind: 'request' as const,
            id: q,
            label: `${request.method} ${request.route}`,
            platform_id: request.platformId,
            user_key: request.userKey
          }
        ])
  ]
}

function platformHit({ platformId, name }: { readonly platformId: PlatformId; readonly name: string }): Hit {
  return { kind: 'platform', id: platformId, label: name, platform_id: platformId, user_key: null }
}

function hit(kind: Hit['kind'], id: string, label: string, of: { readonly platformId: string; readonly userKey: string }): Hit {
  return { kind, id, label, platform_id: of.platformId, user_key: of.userKey }
}

function readOrNull<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof Malformed) return null
    throw cause
  }
}
