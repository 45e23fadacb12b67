import { claimConnection } from '@trunkline/core/app/connections/claim-connection'
import { claimTicket, connectionRecord, presentConnection } from '../../../wire/connection.ts'
import { userEndpoint } from '../../endpoint.ts'
import { connectionIdInPath } from '../../params.ts'

export const postClaim = userEndpoint({
  method: 'POST',
  path: '/connections/:connection_id/claim',
  operationId: 'claimConnection',
  scope: 'users',
  tag: 'Connections',
  summary: 'Claim a new connection',
  description:
    'For platforms whose new connections must be claimed: send the `claim_code` from the redirect with the credentials of the user whose browser session received it. Until then the connection is not listed and cannot be used for reads or orders. A connection that is not claimed within ten minutes is removed, and its login is revoked.',
  failures: ['connection_not_found', 'connection_claimed', 'claim_refused'],
  params: { connection_id: connectionIdInPath },
  body: claimTicket,
  bodyExample: { claim_code: 'b1QAr-y54PP9OiUGOBUjwVPPoxnDlHwNumgIKLzoqzY' },
  success: { status: 200, description: 'The connection, ready for use.', schema: connectionRecord },
  async handle({ caller, path, body }, { deps }) {
    return presentConnection(await claimConnection(deps, caller, path.connection_id, body.claim_code))
  }
})
