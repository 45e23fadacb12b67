import { deleteUser } from '@trunkline/core/app/users/delete-user'
import { deletedUser } from '../../../wire/user.ts'
import { platformEndpoint } from '../../endpoint.ts'
import { userIdParam } from '../../params.ts'

export const deleteUserById = platformEndpoint({
  method: 'DELETE',
  path: '/users/:user_id',
  scope: 'users',
  operationId: 'deleteUser',
  tag: 'Users',
  summary: 'Delete a user',
  description:
    'For good, with all its connections and their records, each as `DELETE /connections/{connection_id}` removes one. An unknown user is ' +
    'answered with 400.',
  failures: ['user_not_found'],
  statusOverrides: { user_not_found: 400 },
  params: { user_id: userIdParam },
  success: { status: 200, description: 'The user is gone.', schema: deletedUser },
  async handle({ caller, path }, { deps }) {
    await deleteUser(deps, caller, path.user_id)
    return { user_id: path.user_id }
  }
})
