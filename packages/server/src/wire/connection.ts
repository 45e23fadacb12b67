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
const connectionType = oneOf(CONNECTION_TYPES, { description: 'What the connection may be used for. Only `trade` accepts orders.' })
const redirect = Type.String({
  maxLength: 2_048,
  examples: ['https://app.example.com/linked'],
  'x-expected': 'an absolute https address of at most 2048 characters'
})

export const connectionTicket = ticket('NewConnection', {
  connection_type: Type.Optional(nullable(connectionType)),
  type: Type.Optional(nullable(connectionType, 'An alias of `connection_type`. Send only one of the two.')),
  broker: Type.Optional(nullable(broker, 'If absent, the user chooses a broker in the portal.')),
  renew_connection_id: Type.Optional(
    nullable(
      uuid,
      'Renews the login of this connection of the user instead of creating a new connection; its ids stay. `connection_type` and `broker` must be absent or equal to those of the connection. The user must use a login with access to every account of the connection.'
    )
  ),
  redirect_url: Type.Optional(
    nullable(
      redirect,
      'Where the user is redirected afterwards, with `connection_id` added. If absent, the user stays on the portal’s page.'
    )
  ),
  redirect_on_error_url: Type.Optional(
    nullable(redirect, 'Where the user is redirected after an error, with `error` and `error_details` added. Defaults to `redirect_url`.')
  )
})

export const claimTicket = ticket('Claim', {
  claim_code: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The code from the redirect. It can be used once, within ten minutes.',
    'x-expected': 'the claim_code of the redirect'
  })
})

export const startedConnection = record('StartedConnection', 'The link for the user.', {
  authorization_url: Type.String({ format: 'uri', description: 'Can be used once, and cannot be guessed.' }),
  expires_at: timestamp
})

export const connectionRecord = record('Connection', 'One completed broker login.', {
  connection_id: uuid,
  user_id: Type.String(),
  broker,
  accounts: Type.Array(
    record('ConnectedAccount', 'An account that the connection gives access to.', { account_id: uuid, account_number: Type.String() })
  ),
  connection_type: connectionType,
  status: oneOf(CONNECTION_STATUSES),
  broken_code: nullable(
    oneOf(BROKEN_CODES),
    'Why the connection cannot be used. `credentials_rejected`: the broker refused the login, and the user must connect again. `environment_changed`: the service now uses another environment of the broker than the one of this login; the connection works again if the service returns to that environment. Null while ACTIVE.'
  ),
  broken_reason: nullable(Type.String(), '`broken_code` as readable text.'),
  environment: nullable(
    oneOf(ENVIRONMENTS),
    'The environment of the login. `sandbox`: the brokerage that comes with the service; `paper`: the broker’s own paper accounts; `live`: real accounts. Null for a login that is older than this field, at a broker that is no longer offered.'
  ),
  health: oneOf(HEALTH_STATES, {
    description:
      'How the stored records follow the broker. `live`: by its account stream, without a gap. `polling`: by regular requests. `stale`: the broker does not respond, so the records are the last known ones. `broken`: the broker rejected the credentials.'
  }),
  health_since: timestamp,
  health_reason: nullable(Type.String(), 'Why `health` is not `live`; null while it is.'),
  records_left_out: Type.Integer({
    minimum: 0,
    description:
      'How many records of the accounts the broker lists that the service cannot read at present. They are left out; all others are followed as `health` says, and nothing that such a list lacks counts as gone: a position stays as its `system_time` has it.'
  }),
  records_left_out_at: nullable(timestamp, 'When one was last left out; null while there is none.'),
  created_at: timestamp,
  updated_at: timestamp
})
export const connectionList = Type.Array(connectionRecord)
export const connectionPage = page('ConnectionPage', connectionRecord)
export const deletedConnection = record('DeletedConnection', 'The connection that was deleted.', { connection_id: uuid })

export const accessToken = record('AccessToken', 'A token for the market data stream.', {
  access_token: Type.String({ examples: ['mdt_…'] }),
  expires_at: timestamp,
  expires_in: Type.Integer({ description: 'Seconds.', examples: [86_400] })
})

export function presentConnection({ connection, accounts, health, leftOut }: ConnectionWithAccounts): Static<typeof connectionRecord> {
  const { created_at, updated_at, ...stored } = presentStoredConnection({ connection, accounts })
  return { ...stored, ...presentFollowed({ health, leftOut }), created_at, updated_at }
}

/** What every node knows of a connection. */
export function presentStoredConnection({ connection, accounts }: Pick<ConnectionWithAccounts, 'connection' | 'accounts'>) {
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
    created_at: connection.createdAt,
    updated_at: connection.updatedAt
  }
}

/** What the node knows that follows the connection. */
export function presentFollowed({ health, leftOut }: Pick<ConnectionWithAccounts, 'health' | 'leftOut'>) {
  return {
    health: health.state,
    health_since: health.since,
    health_reason: health.reason,
    records_left_out: leftOut?.records ?? 0,
    records_left_out_at: leftOut?.at ?? null
  }
}
