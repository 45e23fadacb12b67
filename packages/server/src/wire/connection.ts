import type { ConnectionWithAccounts } from '@trunkline/core/app/connections/list-connections'
import { HEALTH_STATES } from '@trunkline/core/domain/account'
import { BROKEN_CODES, CONNECTION_STATUSES, CONNECTION_TYPES, ENVIRONMENTS } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { nullable, oneOf, page, record, ticket, timestamp, uuid } from './common.ts'

const broker = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{1,31}$',
  description: 'Broker identifier; see `GET /brokers`.',
  examples: ['SANDBOX'],
  'x-expected': 'an upper-case broker name such as SANDBOX'
})
const connectionType = oneOf(CONNECTION_TYPES, { description: 'What the connection is for. Only `trade` takes orders.' })
const redirect = Type.String({
  maxLength: 2_048,
  examples: ['https://app.example.com/linked'],
  'x-expected': 'an absolute https address of at most 2048 characters'
})

export const connectionTicket = ticket('NewConnection', {
  connection_type: Type.Optional(nullable(connectionType)),
  type: Type.Optional(nullable(connectionType, 'Another name of `connection_type`; give one of the two.')),
  broker: Type.Optional(nullable(broker, 'Left out: the user picks one on our page.')),
  renew_connection_id: Type.Optional(
    nullable(
      uuid,
      'Renews the login of this connection of the user instead of making a new one; its ids stay. `connection_type` and `broker` are left out, or those of the connection. The same login must come back, which is one that reaches every account of the connection.'
    )
  ),
  redirect_url: Type.Optional(
    nullable(redirect, 'Where the user goes afterwards, with `connection_id` added. Left out: the user stays on our page.')
  ),
  redirect_on_error_url: Type.Optional(
    nullable(redirect, 'Where the user goes on a failure, with `error` and `error_details` added. Left out: `redirect_url`.')
  )
})

export const claimTicket = ticket('Claim', {
  claim_code: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Came with the redirect; good once, for ten minutes.',
    'x-expected': 'the claim_code of the redirect'
  })
})

export const startedConnection = record('StartedConnection', 'A link to show the user.', {
  authorization_url: Type.String({ format: 'uri', description: 'Single-use, and unguessable.' }),
  expires_at: timestamp
})

export const connectionRecord = record('Connection', 'One completed broker login.', {
  connection_id: uuid,
  user_id: Type.String(),
  broker,
  accounts: Type.Array(
    record('ConnectedAccount', 'An account reached through the connection.', { account_id: uuid, account_number: Type.String() })
  ),
  connection_type: connectionType,
  status: oneOf(CONNECTION_STATUSES),
  broken_code: nullable(
    oneOf(BROKEN_CODES),
    'Why it cannot be used: `credentials_rejected`, the broker refused the login, and the user has to connect again; `environment_changed`, the service now uses another environment of the broker than the login was made in, and it works again when the service goes back. Null while ACTIVE.'
  ),
  broken_reason: nullable(Type.String(), 'The same as text.'),
  environment: nullable(
    oneOf(ENVIRONMENTS),
    'Where the login was made: `sandbox`, the brokerage that comes with the service, `paper`, the broker’s own practice accounts, or `live`. Null: before that was recorded, at a broker that is not offered any more.'
  ),
  health: oneOf(HEALTH_STATES, {
    description:
      'How well what is stored follows the broker. `live`: by its account stream, without a gap. `polling`: by asking. `stale`: the broker gives no answer, so records are the last known. `broken`: the broker rejected the credentials.'
  }),
  health_since: timestamp,
  health_reason: nullable(Type.String(), 'Why it is not `live`; null while it is.'),
  created_at: timestamp,
  updated_at: timestamp
})
export const connectionList = Type.Array(connectionRecord)
export const connectionPage = page('ConnectionPage', connectionRecord)
export const deletedConnection = record('DeletedConnection', 'The connection that is gone.', { connection_id: uuid })

export const accessToken = record('AccessToken', 'A token for the market data stream.', {
  access_token: Type.String({ examples: ['mdt_…'] }),
  expires_at: timestamp,
  expires_in: Type.Integer({ description: 'Seconds.', examples: [86_400] })
})

export function presentConnection({ connection, accounts, health }: ConnectionWithAccounts): Static<typeof connectionRecord> {
  return {
    connection_id: connection.connectionId,
    user_id: connection.userId,
    broker: connection.broker,
    accounts: accounts.map(({ accountId, accountNumber }) => ({ account_id: accountId, account_number: accountNumber })),
    connection_type: connection.connectionType,
    status: connection.status,
    broken_code: connection.brokenCode,
    broken_reason: connection.brokenReason,
    environment: connection.endpoint?.environment ?? null,
    health: health.state,
    health_since: health.since,
    health_reason: health.reason,
    created_at: connection.createdAt,
    updated_at: connection.updatedAt
  }
}
