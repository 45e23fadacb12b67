// The messages of the broker stream, as `/asyncapi.json` describes them.
import { HEALTH_STATES } from '@trunkline/core/domain/account'
import { CONNECTION_STATUSES } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { nullable, oneOf, record, timestamp, uuid } from './common.ts'

/** The only version. `auth_success` echoes it. */
export const STREAM_VERSION = 'v1.0'
export const TOPICS = ['orders', 'positions', 'balances'] as const
export const EXTENSIONS = ['stream_status'] as const

const message = Type.String({ description: 'What happened, and what to do.' })
const userId = Type.String({ minLength: 1, maxLength: 64 })
const topics = Type.Array(Type.String(), {
  description: 'Each of `orders`, `positions`, `balances` at most once, or `all` alone.',
  examples: [['orders', 'balances']]
})

export const authenticate = record('Authenticate', 'Authenticates the session, within 30 seconds.', {
  action: Type.Literal('authenticate'),
  client_id: Type.String(),
  client_secret: Type.String(),
  version: Type.Optional(Type.Literal(STREAM_VERSION)),
  extensions: Type.Optional(
    Type.Array(oneOf(EXTENSIONS), {
      description: 'Additional kinds of messages to receive: `stream_status`.',
      examples: [['stream_status']]
    })
  )
})
export const subscribe = record('Subscribe', 'Adds topics to this session.', { action: Type.Literal('subscribe'), topics })
export const subscribeUser = record('SubscribeUser', 'Adds a user to this session.', {
  action: Type.Literal('subscribe_user'),
  user_id: userId,
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'The `seq` of the last update that you have. Everything after it is sent first, then `caught_up`.'
    })
  )
})
export const unsubscribeUser = record('UnsubscribeUser', 'Removes a user from this session.', {
  action: Type.Literal('unsubscribe_user'),
  user_id: userId
})
export const ping = record('Ping', 'Checks whether the connection is alive.', {
  action: Type.Literal('ping'),
  seq: Type.Optional(Type.Integer())
})

export const welcome = record('Welcome', 'The first message of every session.', {
  type: Type.Literal('welcome'),
  session_id: uuid,
  message
})
export const authSuccess = record('AuthSuccess', 'The session is authenticated.', {
  type: Type.Literal('auth_success'),
  message,
  version: Type.Literal(STREAM_VERSION)
})
export const authError = record('AuthError', 'The authentication failed, or the session was already authenticated.', {
  type: Type.Literal('auth_error'),
  message
})
export const subscribed = record('Subscribed', 'The topics are active from now on.', {
  type: Type.Literal('subscribed'),
  subscription_id: uuid,
  topics
})
export const subscriptionFailed = record('SubscriptionFailed', 'The request was refused and changed nothing.', {
  type: Type.Literal('subscription_failed'),
  message,
  user_id: Type.Optional(Type.String({ description: 'The user of the request, if it named one.' }))
})
export const userSubscribed = record('UserSubscribed', 'The user’s updates are sent from now on.', {
  type: Type.Literal('user_subscribed'),
  user_id: userId,
  seq: Type.Integer({ description: 'All updates after this `seq` are sent.' })
})
export const caughtUp = record('CaughtUp', 'The replay is complete.', {
  type: Type.Literal('caught_up'),
  user_id: userId,
  seq: Type.Integer({ description: 'The `seq` of the newest update at that moment.' })
})
export const userUnsubscribed = record(
  'UserUnsubscribed',
  'No more updates of the user follow: you unsubscribed, or the user was deleted or disabled.',
  {
    type: Type.Literal('user_unsubscribed'),
    user_id: userId
  }
)
export const pong = record('Pong', 'The reply to `ping`, with its `seq`.', {
  type: Type.Literal('pong'),
  seq: Type.Optional(Type.Integer())
})
export const streamError = record('StreamError', 'A message was invalid. The session stays open.', {
  type: Type.Literal('error'),
  message
})
export const streamStatus = record(
  'StreamStatus',
  'How a connection of a subscribed user follows its broker. Needs the extension `stream_status`.',
  {
    type: Type.Literal('stream_status'),
    user_id: userId,
    connection_id: uuid,
    status: oneOf(CONNECTION_STATUSES),
    health: oneOf(HEALTH_STATES),
    since: timestamp,
    reason: nullable(Type.String(), 'Why `health` is not `live`.')
  }
)

/** Everything the server sends besides updates. */
export type ServerMessage =
  | Static<typeof welcome>
  | Static<typeof authSuccess>
  | Static<typeof authError>
  | Static<typeof subscribed>
  | Static<typeof subscriptionFailed>
  | Static<typeof userSubscribed>
  | Static<typeof caughtUp>
  | Static<typeof userUnsubscribed>
  | Static<typeof pong>
  | Static<typeof streamError>
  | Static<typeof streamStatus>
