import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { deletedConnection } from '../../../wire/connection.ts'
import { userEndpoint } from '../../endpoint.ts'
import { connectionIdInPath } from '../../params.ts'

export const deleteConnectionById = userEndpoint({
  method: 'DELETE',
  path: '/connections/:connection_id',
  scope: 'users',
  operationId: 'deleteConnection',
  tag: 'Connections',
  summary: 'Delete a connection',
  description:
    'Erases the stored login and ends its market data tokens; its tokens at the broker are revoked in the background. Open orders stay at the ' +
    'broker. Where the broker has yet to answer about an order, that is waited for, ten seconds at most.',
  failures: ['connection_not_found'],
  params: { connection_id: connectionIdInPath },
  success: { status: 200, description: 'The connection is gone.', schema: deletedConnection },
  async handle({ caller, path }, { deps }) {
    await deleteConnection(deps, caller, path.connection_id)
    return { connection_id: path.connection_id }
  }
})
