import type { ConnectionWithAccounts } from '@trunkline/core/app/connections/list-connections'
import type { Connection } from '@trunkline/core/domain/account'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId, UserKey } from '@trunkline/core/domain/ids'
import { CONNECTION_STATUSES } from '@trunkline/core/domain/vocabulary'
import { integer, oneOf, required, userIdParam, uuidInPath } from '../../http/params.ts'
import { Rendered } from '../../http/rendered.ts'
import { paging } from '../../http/routes/parameters.ts'
import { pageBytes } from '../../http/routes/platform.ts'
import { eventPage } from '../../wire/update.ts'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, operation } from '../endpoint.ts'
import {
  connectionList,
  connectionPage,
  platformList,
  presentConnectionRow,
  presentPlatform,
  presentUser,
  userPage,
  userRow
} from '../records.ts'

const LIMIT = { maximum: 100, fallback: 50 }
const EVENTS = { minimum: 1, maximum: 500, fallback: 100 }
const shared = { scope: 'read', tag: 'Platforms' } as const
const ofPlatform = required(uuidInPath<PlatformId>('Only those of this platform.'))
const params = { user_key: uuidInPath<UserKey>('The user.') }

export const PLATFORMS: readonly Operation[] = [
  operation({
    ...shared,
    method: 'GET',
    path: '/platforms',
    operationId: 'listPlatforms',
    summary: 'List the platforms',
    success: { status: 200, description: 'All platforms.', schema: platformList },
    async handle(_call, { app: { store } }) {
      const [platforms, disabled] = await Promise.all([store.platforms.list(), store.platforms.disabled()])
      return { data: platforms.map(platform => presentPlatform(platform, disabled.get(platform.platformId) ?? null)) }
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/users',
    operationId: 'listOperatorUsers',
    summary: 'List a platform’s users',
    query: { platform_id: ofPlatform, user_id: { ...userIdParam, description: 'Only the user with this name.' }, ...paging(LIMIT) },
    success: { status: 200, description: 'One page of users, the newest first.', schema: userPage },
    async handle({ query: requested }, { app: { store }, cursors }) {
      const { platform_id: platformId, user_id: userId } = requested
      const scope = ['operator-users', platformId, userId]
      const request = cursors.request(requested, scope, LIMIT.fallback, true)
      const filter = userId === undefined ? {} : { userId }
      return cursors.envelope(await store.users.list(platformId, filter, 'createdAt', request), scope, presentUser)
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/users/:user_key',
    operationId: 'readOperatorUser',
    summary: 'Read a user',
    failures: ['user_not_found'],
    params,
    success: { status: 200, description: 'The user.', schema: userRow },
    async handle({ path }, deps) {
      return presentUser(await userOf(deps, path.user_key))
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/users/:user_key/connections',
    operationId: 'listUserConnections',
    summary: 'List a user’s connections',
    failures: ['user_not_found'],
    params,
    success: { status: 200, description: 'The connections, the newest first.', schema: connectionList },
    async handle({ path }, deps) {
      const { userKey } = await userOf(deps, path.user_key)
      const connections = await deps.app.store.connections.listByUser(userKey, null)
      return { data: (await completed(deps, connections)).map(row => presentConnectionRow(row, isFollowedHere(deps, row.connection))) }
    }
  }),
  operation({
    ...shared,
    tag: 'Records',
    method: 'GET',
    path: '/users/:user_key/events',
    operationId: 'listUserEvents',
    summary: 'List a user’s events',
    description: 'The log behind the broker stream, as platforms read it with `GET /events`.',
    failures: ['user_not_found'],
    params,
    query: {
      after: integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 }, 'Only events with a higher `seq`.'),
      limit: integer(EVENTS, 'Maximum number of events on a page.')
    },
    success: { status: 200, description: 'One page of events, the oldest first.', schema: eventPage },
    async handle({ caller, path, query: { after = 0, limit = EVENTS.fallback } }, deps) {
      const { platformId, userId } = await userOf(deps, path.user_key)
      const platform = await deps.app.store.platforms.find(platformId)
      if (platform === null) throw unknownUser()
      const { ip, requestId } = caller
      return new Rendered(await pageBytes(deps.app, { platform, ip, requestId }, { userId, after, limit }))
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/connections',
    operationId: 'listOperatorConnections',
    summary: 'List the connections of a platform’s users',
    query: { platform_id: ofPlatform, status: oneOf(CONNECTION_STATUSES, 'Only connections with this status.'), ...paging(LIMIT) },
    success: { status: 200, description: 'One page of connections, the newest first.', schema: connectionPage },
    async handle({ query: requested }, deps) {
      const { platform_id: platformId, status = null } = requested
      const scope = ['operator-connections', platformId, status]
      const request = deps.cursors.request(requested, scope, LIMIT.fallback, true)
      const found = await deps.app.store.connections.listByPlatform(platformId, status, request)
      const rows = await completed(deps, found.rows)
      return deps.cursors.envelope({ ...found, rows }, scope, row => presentConnectionRow(row, isFollowedHere(deps, row.connection)))
    }
  })
]

async function completed(
  { app: { store, mirrors } }: OperatorDeps,
  connections: readonly Connection[]
): Promise<readonly ConnectionWithAccounts[]> {
  const accounts = await store.accounts.listByConnections(connections.map(({ connectionId }) => connectionId))
  const byConnection = Map.groupBy(accounts, ({ connectionId }) => connectionId)
  return connections.map(connection => ({
    connection,
    accounts: byConnection.get(connection.connectionId) ?? [],
    health: mirrors.health(connection),
    leftOut: mirrors.leftOut(connection)
  }))
}

function isFollowedHere({ app }: OperatorDeps, { userKey }: Connection): boolean {
  return app.ownership.ownerOf(userKey).kind === 'this'
}

async function userOf({ app: { store } }: OperatorDeps, userKey: UserKey) {
  const user = await store.users.findByKey(userKey)
  if (user === null) throw unknownUser()
  return user
}

function unknownUser(): ServiceError {
  return new ServiceError('user_not_found', 'There is no user with this user_key; it may have been deleted.')
}
