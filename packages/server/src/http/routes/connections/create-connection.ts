import { startAttempt } from '@trunkline/core/app/connect/start-attempt'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type ConnectionId, parseBrokerId, parseUuid } from '@trunkline/core/domain/ids'
import type { ConnectionType } from '@trunkline/core/domain/vocabulary'
import type { Static } from 'typebox'
import { connectionTicket, startedConnection } from '../../../wire/connection.ts'
import { userEndpoint } from '../../endpoint.ts'

export const postConnection = userEndpoint({
  method: 'POST',
  path: '/connections',
  scope: 'users',
  operationId: 'createConnection',
  tag: 'Connections',
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
})

function typeOf({ connection_type: given, type: alias }: Static<typeof connectionTicket>): ConnectionType | null {
  const type = given ?? alias ?? null
  if (alias !== undefined && alias !== null && alias !== type) throw invalid('type', 'differs from connection_type; give one of the two')
  return type
}

function invalid(path: string, message: string): ServiceError {
  return new ServiceError('field_invalid', `${path} ${message}.`, { details: [{ path, message }] })
}
