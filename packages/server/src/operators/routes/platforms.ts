import type { Connection } from '@trunkline/core/domain/account'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { CONNECTION_STATUSES } from '@trunkline/core/domain/vocabulary'
import type { Page, PageRequest } from '@trunkline/core/ports/store'
import { integer, oneOf, required, userIdParam, uuidInPath } from '../../http/params.ts'
import { Rendered } from '../../http/rendered.ts'
import { pageBytes } from '../../http/routes/platform.ts'
import { eventPage } from '../../wire/update.ts'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, operation } from '../endpoint.ts'
import { WAIT_SECONDS_MAX, WAITS_MAX } from '../event-wait.ts'
import { LIMIT, onlyPage, pageOf, paging } from '../paging.ts'
import {
  connectionPage,
  platformPage,
  presentConnectionRow,
  presentPlatform,
  presentUser,
  type ShownConnection,
  userPage,
  userRow
} from '../records.ts'
import { replayPlatformId } from '../replay/practice.ts'

const EVENTS = { minimum: 1, maximum: 500, fallback: 100 }
const CONFIRMED_KINDS = ['balances', 'positions', 'orders'] as const
const shared = { scope: 'read', tag: 'Platforms' } as const
const params = { user_key: uuidInPath<UserKey>('The user.') }

export const PLATFORMS: readonly Operation[] = [
  operation({
    ...shared,
    method: 'GET',
    path: '/platforms',
    operationId: 'listPlatforms',
    summary: 'List the platforms',
    success: { status: 200, description: 'All platforms.', schema: platformPage },
    async handle(_call, { app: { store, hasher } }) {
      const [platforms, disabled] = await Promise.all([store.platforms.list(), store.platforms.disabled()])
      const ofReplays = replayPlatformId(hasher)
      return onlyPage(platforms, platform =>
        presentPlatform(platform, disabled.get(platform.platformId) ?? null, platform.platformId === ofReplays)
      )
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/users',
    operationId: 'listOperatorUsers',
    summary: 'List a platform’s users',
    query: {
      platform: required(uuidInPath<PlatformId>('The platform, by its `platform_id`.')),
      user_id: { ...userIdParam, description: 'Only the user with this name.' },
      ...paging
    },
    success: { status: 200, description: 'One page of users, the newest first.', schema: userPage },
    async handle({ query: requested }, { app: { store }, cursors }) {
      const { platform, user_id: userId } = requested
      const scope = ['operator-users', platform, userId]
      const request = cursors.forward(requested, scope, LIMIT.fallback)
      const found = await store.users.list(platform, userId === undefined ? {} : { userId }, 'createdAt', request)
      const enabled = await store.users.enabledOf(found.rows.map(({ userKey }) => userKey))
      return pageOf(cursors, found, scope, user => presentUser(user, !enabled.has(user.userKey)))
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
      const user = await userOf(deps, path.user_key)
      const enabled = await deps.app.store.users.enabledOf([user.userKey])
      return presentUser(user, !enabled.has(user.userKey))
    }
  }),
  operation({
    ...shared,
    tag: 'Records',
    method: 'GET',
    path: '/events',
    outsidePlaces: true,
    operationId: 'listUserEvents',
    summary: 'List a user’s events',
    description: `The log behind the broker stream, as platforms read it with \`GET /events\`. With \`wait\`, and nothing after \`after\` yet, the answer comes with
the next event, or empty after that many seconds. At most ${WAITS_MAX} requests wait at a node; one more is answered at once.`,
    failures: ['user_not_found'],
    query: {
      user: required(uuidInPath<UserKey>('The user, by the `user_key`.')),
      after: integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 }, 'Only events with a higher `seq`.'),
      limit: integer(EVENTS, 'Maximum number of events on a page.'),
      wait: integer({ minimum: 0, maximum: WAIT_SECONDS_MAX, fallback: 0 }, 'How many seconds to wait for the next event.')
    },
    success: { status: 200, description: 'One page of events, the oldest first.', schema: eventPage },
    async handle({ caller, query: { user: userKey, after = 0, limit = EVENTS.fallback, wait = 0 }, request, reply }, deps) {
      if (wait > 0) {
        await deps.waits.until(userKey, after, wait * 1_000, request.raw)
        // The session or the key may have ended meanwhile.
        await deps.access.operator(request, reply, 'read', false)
      }
      return deps.places.run(async () => {
        const { platformId, userId } = await userOf(deps, userKey)
        const platform = await deps.app.store.platforms.find(platformId)
        if (platform === null) throw unknownUser()
        const { ip, requestId } = caller
        return new Rendered(await pageBytes(deps.app, { platform, ip, requestId }, { userId, after, limit }))
      })
    }
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/connections',
    operationId: 'listOperatorConnections',
    summary: 'List connections',
    description: 'Of a user or of all users of a platform: one of the two is required. The newest first.',
    query: {
      platform: uuidInPath<PlatformId>('Only those of this platform, by its `platform_id`.'),
      user: uuidInPath<UserKey>('Only those of this user, by the `user_key`.'),
      status: oneOf(CONNECTION_STATUSES, 'Only connections with this status.'),
      ...paging
    },
    success: { status: 200, description: 'One page of connections.', schema: connectionPage },
    async handle({ query: requested }, deps) {
      const { platform, user, status = null } = requested
      const { store } = deps.app
      if (platform === undefined && user === undefined) throw oneOfBoth()
      const scope = ['operator-connections', platform, user, status]
      const request = deps.cursors.forward(requested, scope, LIMIT.fallback)
      const found =
        user === undefined && platform !== undefined
          ? await store.connections.listByPlatform(platform, status, request)
          : ofUser(user === undefined ? [] : await store.connections.listByUser(user, status), platform, request)
      return pageOf(deps.cursors, { ...found, rows: await completed(deps, found.rows) }, scope, presentConnectionRow)
    }
  })
]

/** A page of all connections of a user, the newest first. */
function ofUser(all: readonly Connection[], platform: PlatformId | undefined, { limit, edge }: PageRequest): Page<Connection> {
  const [createdAt = '', connectionId = ''] = edge?.key ?? []
  const left = all.filter(
    one =>
      (platform === undefined || one.platformId === platform) &&
      (edge === null || one.createdAt < createdAt || (one.createdAt === createdAt && one.connectionId < connectionId))
  )
  const rows = left.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: left.length > limit && last !== undefined ? [last.createdAt, last.connectionId] : null, prev: null }
}

function oneOfBoth(): ServiceError {
  const message = 'is required, or user'
  return new ServiceError('query_invalid', `platform ${message}.`, { details: [{ path: 'platform', message }] })
}

async function completed({ app: { store }, nodes }: OperatorDeps, connections: readonly Connection[]): Promise<readonly ShownConnection[]> {
  const accounts = await store.accounts.listByConnections(connections.map(({ connectionId }) => connectionId))
  const ids = accounts.map(({ accountId }) => accountId)
  const [followed, ...confirmed] = await Promise.all([
    nodes.followed(connections),
    ...CONFIRMED_KINDS.map(kind => store.accounts.confirmed(ids, kind))
  ])
  const byConnection = Map.groupBy(accounts, ({ connectionId }) => connectionId)
  return connections.map(connection => {
    const its = byConnection.get(connection.connectionId) ?? []
    const [balances = null, positions = null, orders = null] = confirmed.map(known =>
      oldest(its.map(({ accountId }) => known.get(accountId)))
    )
    const knownBy = followed.get(connection.connectionId) ?? null
    return { connection, accounts: its, followed: knownBy, confirmed: { balances, positions, orders } }
  })
}

/** Null if one is not known: then not all of them were confirmed. */
function oldest(times: readonly (Timestamp | undefined)[]): Timestamp | null {
  const known = times.filter(time => time !== undefined)
  const [first = null, ...others] = known
  return known.length < times.length || first === null ? null : others.reduce((a, b) => (b < a ? b : a), first)
}

async function userOf({ app: { store } }: OperatorDeps, userKey: UserKey) {
  const user = await store.users.findByKey(userKey)
  if (user === null) throw unknownUser()
  return user
}

function unknownUser(): ServiceError {
  return new ServiceError('user_not_found', 'There is no user with this user_key; it may have been deleted.')
}
