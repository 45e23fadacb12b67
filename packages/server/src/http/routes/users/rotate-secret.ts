import { rotateUserSecret } from '@trunkline/core/app/users/rotate-user-secret'
import { userWithSecret } from '../../../wire/user.ts'
import { platformEndpoint } from '../../endpoint.ts'
import { userIdParam } from '../../params.ts'

export const rotateSecret = platformEndpoint({
  method: 'POST',
  path: '/users/:user_id/rotate-secret',
  scope: 'users',
  operationId: 'rotateUserSecret',
  tag: 'Users',
  summary: 'Give a user a new secret',
  description: 'The old secret ends at once, and with it the user’s market data tokens and their sessions. Connections stay.',
  failures: ['user_not_found'],
  params: { user_id: userIdParam },
  success: { status: 200, description: 'The user and its new secret, shown this once.', schema: userWithSecret },
  async handle({ caller, path }, { deps }) {
    const { user, userSecret } = await rotateUserSecret(deps, caller, path.user_id)
    return { user_id: user.userId, 'user-secret': userSecret }
  }
})
