import { createUser } from '@trunkline/core/app/users/users'
import { parseNewUserId } from '@trunkline/core/domain/ids'
import { userTicket, userWithSecret } from '../../../wire/user.ts'
import { platformEndpoint } from '../../endpoint.ts'

export const postUser = platformEndpoint({
  method: 'POST',
  path: '/users',
  scope: 'users',
  operationId: 'createUser',
  tag: 'Users',
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
})
