import { deleteUser } from '@trunkline/core/app/users/users'
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
})
