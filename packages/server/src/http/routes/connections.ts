import { startAttempt } from '@trunkline/core/app/connect/start-attempt'
import { claimConnection } from '@trunkline/core/app/connections/claim-connection'
import { deleteConnection } from '@trunkline/core/app/connections/delete-connection'
import { issueToken } from '@trunkline/core/app/connections/issue-token'
import { listConnections, listPlatformConnections } from '@trunkline/core/app/connections/list-connections'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type ConnectionId, parseBrokerId, parseUuid } from '@trunkline/core/domain/ids'
import { CONNECTION_STATUSES, type ConnectionType } from '@trunkline/core/domain/vocabulary'
import type { Static } from 'typebox'
import {
  accessToken,
  claimTicket,
  connectionList,
  connectionPage,
  connectionRecord,
  connectionTicket,
  deletedConnection,
  presentConnection,
  startedConnection
} from '../../wire/connection.ts'
import { type Endpoint, platformEndpoint, userEndpoint } from '../endpoint.ts'
import { connectionIdInPath, oneOf } from '../params.ts'
import { PAGE_ROWS, paging } from './parameters.ts'

const shared = { scope: 'users', tag: 'Connections' } as const
const params = { connection_id: connectionIdInPath }
const status = oneOf(CONNECTION_STATUSES, 'Only connections with this status.')

export const CONNECTIONS: readonly Endpoint[] = [
  userEndpoint({
    ...shared,
    method: 'POST',
    path: '/connections',
    operationId: 'createConnection',
    summary: 'Start connecting a broker',
    description:
      'Send the user to `authorization_url`. The connection exists once the user has logged in at the broker. With `renew_connection_id`, the new login replaces that of an existing connection.',
    failures: ['connection_not_found', 'connection_broken'],
    body: connectionTicket,
    bodyExample: { connection_type: 'trade', broker: 'SANDBOX', redirect_url: 'https://app.example.com/linked' },
    success: { status: 201, description: 'The link for the user.', schema: startedConnection },
    async handle({ caller, body }, { deps, publicUrl }) {
      const { token, expiresAt } = await startAttempt(deps, caller, {
        connectionType: typeOf(body),
        renewConnectionId:
          typeof body.renew_connection_id === 'string' ? parseUuid<ConnectionId>(body.renew_connection_id, 'renew_connection_id') : null,
        broker: typeof body.broker === 'string' ? parseBrokerId(body.broker) : null,
        redirectUrl: body.redirect_url ?? null,
        redirectOnErrorUrl: body.redirect_on_error_url ?? null
      })
      return { authorization_url: `${publicUrl()}/connect/${token}`, expires_at: expiresAt }
    }
  }),
  userEndpoint({
    ...shared,
    method: 'POST',
    path: '/connections/:connection_id/claim',
    operationId: 'claimConnection',
    summary: 'Claim a new connection',
    description:
      'For platforms whose new connections must be claimed: send the `claim_code` from the redirect with the credentials of the user whose browser session received it. Until then the connection is not listed and cannot be used for reads or orders. A connection that is not claimed within ten minutes is removed, and its login is revoked.',
    failures: ['connection_not_found', 'connection_claimed', 'claim_refused'],
    params,
    body: claimTicket,
    bodyExample: { claim_code: 'b1QAr-y54PP9OiUGOBUjwVPPoxnDlHwNumgIKLzoqzY' },
    success: { status: 200, description: 'The connection, ready for use.', schema: connectionRecord },
    async handle({ caller, path, body }, { deps }) {
      return presentConnection(await claimConnection(deps, caller, path.connection_id, body.claim_code))
    }
  }),
  userEndpoint({
    ...shared,
    method: 'GET',
    path: '/connections',
    scope: 'read',
    operationId: 'listConnections',
    summary: 'List the user’s connections',
    query: { status },
    success: { status: 200, description: 'The connections, newest first.', schema: connectionList },
    async handle({ caller, query }, { deps }) {
      const rows = await listConnections(deps, caller, query.status ?? null)
      return rows.map(presentConnection)
    }
  }),
  platformEndpoint({
    ...shared,
    method: 'GET',
    path: '/platform/connections',
    scope: 'read',
    operationId: 'listPlatformConnections',
    summary: 'List the connections of all users',
    query: { status, ...paging(PAGE_ROWS) },
    success: { status: 200, description: 'One page of connections, newest first.', schema: connectionPage },
    async handle({ caller, query }, { deps, cursors }) {
      const wanted = query.status ?? null
      const scope = ['platform-connections', caller.platform.platformId, wanted]
      const request = cursors.request(query, scope, PAGE_ROWS.fallback, true)
      return cursors.envelope(await listPlatformConnections(deps, caller, wanted, request), scope, presentConnection)
    }
  }),
  userEndpoint({
    ...shared,
    method: 'DELETE',
    path: '/connections/:connection_id',
    operationId: 'deleteConnection',
    summary: 'Delete a connection',
    description:
      'Erases the stored login and ends the connection’s market data tokens. Its tokens at the broker are revoked in the background. Open orders ' +
      'stay at the broker. If the broker has not yet answered a request about an order, the deletion waits for the answer for up to ten seconds.',
    failures: ['connection_not_found'],
    params,
    success: { status: 200, description: 'The connection was deleted.', schema: deletedConnection },
    async handle({ caller, path }, { deps }) {
      await deleteConnection(deps, caller, path.connection_id)
      return { connection_id: path.connection_id }
    }
  }),
  userEndpoint({
    ...shared,
    method: 'GET',
    makes: true,
    path: '/connections/:connection_id/token',
    scope: 'read',
    operationId: 'issueMarketDataToken',
    summary: 'Get a token for the market data stream',
    description: 'Valid for 24 hours. Each call issues a new token, which supersedes the older tokens of the connection.',
    failures: ['connection_not_found', 'entitlement_missing'],
    params,
    success: { status: 200, description: 'The token. It is shown only this once.', schema: accessToken },
    async handle({ caller, path }, { deps }) {
      const token = await issueToken(deps, caller, path.connection_id)
      return { access_token: token.accessToken, expires_at: token.expiresAt, expires_in: token.expiresInSeconds }
    }
  })
]

function typeOf({ connection_type: given, type: alias }: Static<typeof connectionTicket>): ConnectionType | null {
  const type = given ?? alias ?? null
  if (alias === undefined || alias === null || alias === type) return type
  const message = 'differs from connection_type; give one of the two'
  throw new ServiceError('field_invalid', `type ${message}.`, { details: [{ path: 'type', message }] })
}
