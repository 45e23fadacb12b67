import { createUser, deleteUser, listUsers, rotateUserSecret } from '@trunkline/core/app/users/users'
import { parseNewUserId } from '@trunkline/core/domain/ids'
import type { UserFilter } from '@trunkline/core/ports/store'
import { deletedUser, presentUser, userPage, userTicket, userWithSecret } from '../../wire/user.ts'
import { type Endpoint, platformEndpoint } from '../endpoint.ts'
import { accountIdParam, connectionIdParam, plainText, type QueryValues, sort, time, userIdParam } from '../params.ts'
import { orderedTimes, PAGE_ROWS, paging } from './parameters.ts'

const shared = { scope: 'users', tag: 'Users' } as const
const query = {
  user_id: { ...userIdParam, description: 'Only this user.' },
  account_number: plainText(128, 'Users who connected the account with this number at the broker.', 'SB-1001'),
  account_id: { ...accountIdParam, description: 'The user this account belongs to.' },
  connection_id: { ...connectionIdParam, description: 'The user this connection belongs to.' },
  start_time: time('Users created at or after this time.'),
  end_time: time('Users created at or before this time.'),
  ...paging(PAGE_ROWS),
  sort: sort(['created_at', 'user_id'], 'created_at')
}

export const USERS: readonly Endpoint[] = [
  platformEndpoint({
    ...shared,
    method: 'POST',
    path: '/users',
    operationId: 'createUser',
    summary: 'Create a user',
    description: 'The response contains the user’s secret. It is shown only this once: store it.',
    failures: ['user_exists'],
    body: userTicket,
    bodyExample: { user_id: 'ada' },
    success: { status: 200, description: 'The user and its secret.', schema: userWithSecret },
    async handle({ caller, body }, { deps }) {
      const { user, userSecret } = await createUser(deps, caller, parseNewUserId(body.user_id))
      return { user_id: user.userId, 'user-secret': userSecret }
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'GET',
    path: '/users',
    scope: 'read',
    operationId: 'listUsers',
    summary: 'List the platform’s users',
    query,
    success: { status: 200, description: 'One page of users.', schema: userPage },
    async handle({ caller, query: requested }, { deps, cursors }) {
      const { field, descending } = requested.sort ?? { field: 'created_at', descending: true }
      const filter = filterOf(requested)
      const scope = ['users', caller.platform.platformId, filter, field, descending]
      const request = cursors.request(requested, scope, PAGE_ROWS.fallback, descending)
      const page = await listUsers(deps, caller, filter, field === 'user_id' ? 'userId' : 'createdAt', request)
      return cursors.envelope(page, scope, presentUser)
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'DELETE',
    atOwnerOf: 'user_id',
    path: '/users/:user_id',
    operationId: 'deleteUser',
    summary: 'Delete a user',
    description:
      'Permanently deletes the user with all connections and their records, each as `DELETE /connections/{connection_id}` does. For an unknown ' +
      'user the response is a 400.',
    failures: ['user_not_found'],
    statusOverrides: { user_not_found: 400 },
    params: { user_id: userIdParam },
    success: { status: 200, description: 'The user was deleted.', schema: deletedUser },
    async handle({ caller, path }, { deps }) {
      await deleteUser(deps, caller, path.user_id)
      return { user_id: path.user_id }
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'POST',
    path: '/users/:user_id/rotate-secret',
    operationId: 'rotateUserSecret',
    summary: 'Rotate a user’s secret',
    description: 'The old secret stops working at once. The user’s market data tokens and their sessions end too. Connections stay.',
    failures: ['user_not_found'],
    params: { user_id: userIdParam },
    success: { status: 200, description: 'The user and its new secret, which is shown only this once.', schema: userWithSecret },
    async handle({ caller, path }, { deps }) {
      const { user, userSecret } = await rotateUserSecret(deps, caller, path.user_id)
      return { user_id: user.userId, 'user-secret': userSecret }
    }
  })
]

function filterOf(requested: QueryValues<typeof query>): UserFilter {
  orderedTimes(requested.start_time, requested.end_time, 'start_time', 'end_time')
  return {
    ...(requested.user_id !== undefined && { userId: requested.user_id }),
    ...(requested.account_number !== undefined && { accountNumber: requested.account_number }),
    ...(requested.account_id !== undefined && { accountId: requested.account_id }),
    ...(requested.connection_id !== undefined && { connectionId: requested.connection_id }),
    ...(requested.start_time !== undefined && { createdFrom: requested.start_time }),
    ...(requested.end_time !== undefined && { createdTo: requested.end_time })
  }
}
