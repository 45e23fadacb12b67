import { issueToken } from '@trunkline/core/app/connections/issue-token'
import { accessToken } from '../../../wire/connection.ts'
import { userEndpoint } from '../../endpoint.ts'
import { connectionIdInPath } from '../../params.ts'

export const getToken = userEndpoint({
  method: 'GET',
  makes: true,
  path: '/connections/:connection_id/token',
  scope: 'read',
  operationId: 'issueMarketDataToken',
  tag: 'Connections',
  summary: 'Get a token for the market data stream',
  description: 'Valid for 24 hours. Each call issues a new token, which supersedes the older tokens of the connection.',
  failures: ['connection_not_found', 'entitlement_missing'],
  params: { connection_id: connectionIdInPath },
  success: { status: 200, description: 'The token. It is shown only this once.', schema: accessToken },
  async handle({ caller, path }, { deps }) {
    const token = await issueToken(deps, caller, path.connection_id)
    return { access_token: token.accessToken, expires_at: token.expiresAt, expires_in: token.expiresInSeconds }
  }
})
