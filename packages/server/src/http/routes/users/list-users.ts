import { listUsers } from '@trunkline/core/app/users/list-users'
import type { UserFilter } from '@trunkline/core/ports/store'
import { presentUser, userPage } from '../../../wire/user.ts'
import { platformEndpoint } from '../../endpoint.ts'
import { accountIdParam, connectionIdParam, plainText, type QueryValues, sort, time, userIdParam } from '../../params.ts'
import { orderedTimes } from '../ordered.ts'
import { paging } from '../paging.ts'

const LIMIT = { maximum: 1_000, fallback: 100 }
const query = {
  user_id: { ...userIdParam, description: 'Only this user.' },
  account_number: plainText(128, 'Users connected to this broker account number.', 'SB-1001'),
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
  async handle({ caller, query: asked }, { deps, cursors }) {
    const { field, descending } = asked.sort ?? { field: 'created_at', descending: true }
    const filter = filterOf(asked)
    const scope = ['users', caller.platform.platformId, filter, field, descending]
    const request = cursors.request(asked, scope, LIMIT.fallback, descending)
    const page = await listUsers(deps, caller, filter, field === 'user_id' ? 'userId' : 'createdAt', request)
    return cursors.envelope(page, scope, presentUser)
  }
})

function filterOf(asked: QueryValues<typeof query>): UserFilter {
  orderedTimes(asked.start_time, asked.end_time, 'start_time', 'end_time')
  return {
    ...(asked.user_id !== undefined && { userId: asked.user_id }),
    ...(asked.account_number !== undefined && { accountNumber: asked.account_number }),
    ...(asked.account_id !== undefined && { accountId: asked.account_id }),
    ...(asked.connection_id !== undefined && { connectionId: asked.connection_id }),
    ...(asked.start_time !== undefined && { createdFrom: asked.start_time }),
    ...(asked.end_time !== undefined && { createdTo: asked.end_time })
  }
}
