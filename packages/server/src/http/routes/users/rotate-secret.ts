import { rotateUserSecret } from '@trunkline/core/app/users/users'
import { userWithSecret } from '../../../wire/user.ts'
import { platformEndpoint } from '../../endpoint.ts'
import { userIdParam } from '../../params.ts'

export const rotateSecret = platformEndpoint({
  method: 'POST',
  path: '/users/:user_id/rotate-secret',
  scope: 'users',
  operationId: 'rotateUserSecret',
  tag: 'Users',
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
