import { listUsers } from '@trunkline/core/app/users/users'
import type { UserFilter } from '@trunkline/core/ports/store'
import { presentUser, userPage } from '../../../wire/user.ts'
import { platformEndpoint } from '../../endpoint.ts'
import { accountIdParam, connectionIdParam, plainText, type QueryValues, sort, time, userIdParam } from '../../params.ts'
import { orderedTimes } from '../ordered.ts'
import { paging } from '../paging.ts'

const LIMIT = { maximum: 1_000, fallback: 100 }
const query = {
  user_id: { ...userIdParam, description: 'Only this user.' },
  account_number: plainText(128, 'Users who connected the account with this number at the broker.', 'SB-1001'),
  account_id: { ...accountIdParam, description: 'The user this account belongs to.' },
  connection_id: { ...connectionIdParam, description: 'The user this connection belongs to.' },
  start_time: time('Users created at or after this time.'),
  end_time: time('Users created at or before this time.'),
  ...paging(LIMIT),
  sort: sort(['created_at', 'user_id'], 'created_at')
}

export const getUsers = platformEndpoint({
  method: 'GET',
  path: '/users',
  scope: 'read',
  operationId: 'listUsers',
  tag: 'Users',
  summary: 'List the platform’s users',
  query,
  success: { status: 200, description: 'One page of users.', schema: userPage },
  async handle({ caller, query: requested }, { deps, cursors }) {
    const { field, descending } = requested.sort ?? { field: 'created_at', descending: true }
    const filter = filterOf(requested)
    const scope = ['users', caller.platform.platformId, filter, field, descending]
    const request = cursors.request(requested, scope, LIMIT.fallback, descending)
    const page = await listUsers(deps, caller, filter, field === 'user_id' ? 'userId' : 'createdAt', request)
    return cursors.envelope(page, scope, presentUser)
  }
})

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
