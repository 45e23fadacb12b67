// The market data stream's codes and limits as its descriptions show them; the numbers are those of the code that enforces them.
import { BROKER_BARS_MAX, SNAPSHOT_BARS_MAX } from '@trunkline/core/app/market/history-limits'
import { CLOSE } from '../../stream/client-connection.ts'
import { GATEWAY_LIMITS } from '../../stream/gateway.ts'
import { MARKET_CONNECTION_LIMITS } from '../../stream/market/index.ts'
import { MARKET_SESSION_LIMITS } from '../../stream/market/limits.ts'
import { SLOT_LIMITS } from '../../stream/market/session-slots.ts'
import { DEPTH_LEVELS, type MarketErrorCode, REQUEST_ID_MAX } from '../../wire/market.ts'
import { type CloseCode, count, type ErrorCode, kibibytes, type Limit, seconds } from './described.ts'

const { authenticateMs, failuresMax, subscriptionsMax, inbox } = MARKET_SESSION_LIMITS
const { messageBytesMax, sendBuffer } = MARKET_CONNECTION_LIMITS
/** Of the WebSocket protocol itself (RFC 6455, section 7.4.1). */
const MESSAGE_TOO_BIG = 1009
const AGAIN = 'Connect again, authenticate with the same token, and subscribe again.'
const NEW_TOKEN = 'Get a token with `GET /connections/{connection_id}/token` and connect again.'

const ERRORS: Readonly<Record<MarketErrorCode, Omit<ErrorCode, 'code'>>> = {
  auth_error: {
    meaning:
      'The token is unknown, older than 24 hours, or followed by a newer one; or there are too many sessions; or the session is authenticated already.',
    remedy: NEW_TOKEN
  },
  not_authenticated: { meaning: 'Something was asked before `authenticate` had succeeded.', remedy: 'Send `authenticate` first.' },
  invalid_request: {
    meaning: 'The message is no JSON object, a field is missing, of a wrong type or out of bounds, or too many messages came.',
    remedy: 'Correct the field that the message names.'
  },
  unknown_action: { meaning: 'There is no such `action`.', remedy: 'Use one of the actions described here.' },
  unsupported_channel: {
    meaning: 'There is no such channel, or this broker does not have it.',
    remedy: 'See `market_data` in `GET /brokers`.'
  },
  unsupported_symbol: {
    meaning: 'The symbol is malformed or unknown to the broker, or the chain has no such expiration.',
    remedy: 'Check its spelling, and the form for its kind.'
  },
  unsupported_interval: {
    meaning: 'The interval is malformed, zero or too long, or the broker cannot make it.',
    remedy: 'Use a number and a unit, as in `5m`.'
  },
  unsupported_session: {
    meaning: 'The session is unknown, or this broker does not offer it.',
    remedy: 'Use `BrokerDefault`, or leave it out.'
  },
  subscription_not_found: { meaning: 'This session has no subscription with that `sub_id`.', remedy: 'Ask for `list_subscriptions`.' },
  subscription_limit: { meaning: 'The session has as many subscriptions as it may.', remedy: 'End one first, or open another session.' },
  connection_broken: {
    meaning: 'The broker rejects the connection, or it was deleted, or its user was.',
    remedy: 'Have the user connect again, and get a token of the new connection.'
  },
  broker_unavailable: {
    meaning: 'The broker does not answer, or gives nothing for the subscriptions in `sub_ids`.',
    remedy: 'Wait: subscriptions go on by themselves. Ask again for anything else.'
  },
  internal_error: { meaning: 'Something went wrong here.', remedy: 'Try again in a second; tell the operator the `session_id`.' }
}

export const MARKET_ERRORS: readonly ErrorCode[] = Object.entries(ERRORS).map(([code, error]) => ({ code, ...error }))

export const MARKET_CLOSE_CODES: readonly CloseCode[] = [
  { code: CLOSE.goingAway, meaning: 'The service is shutting down. What was due was sent before.', remedy: AGAIN },
  { code: MESSAGE_TOO_BIG, meaning: `A message you sent was larger than ${kibibytes(messageBytesMax)}.`, remedy: 'Send smaller messages.' },
  { code: CLOSE.internal, meaning: 'Something went wrong here, in this session only.', remedy: AGAIN },
  { code: CLOSE.unauthenticated, meaning: `No successful \`authenticate\` within ${seconds(authenticateMs)}.`, remedy: NEW_TOKEN },
  {
    code: CLOSE.ended,
    meaning:
      'Another token of the user was used, or this one from another address; or the user’s secret was replaced; or the connection was deleted or broke. The `error` before says which.',
    remedy: 'Do not simply connect again: find out who uses the other token, get one with the new secret, or have the user connect again.'
  },
  {
    code: CLOSE.slowConsumer,
    meaning: 'Slow consumer: too much waited to be read.',
    remedy: `${AGAIN} Read first and work afterwards, or subscribe to less.`
  },
  {
    code: CLOSE.tooManyFailures,
    meaning: `Too many failures: ${failuresMax} failed authentications, or more messages than may come.`,
    remedy: 'Do not go on as before: get a new token, or send less.'
  }
]

export const MARKET_LIMITS: readonly Limit[] = [
  { what: 'Time to authenticate', value: seconds(authenticateMs), beyond: `closed with ${CLOSE.unauthenticated}` },
  { what: 'Life of a token', value: '24 hours', beyond: '`auth_error`; a session that is up stays up' },
  {
    what: 'Sockets of one address that have not authenticated',
    value: count(GATEWAY_LIMITS.unauthenticated.perAddress),
    beyond: `the next is refused with 429 until the oldest has had ${seconds(GATEWAY_LIMITS.unauthenticated.graceMs)}; that one is then closed with ${CLOSE.unauthenticated}`
  },
  {
    what: 'Handshakes of one address',
    value: `${count(GATEWAY_LIMITS.handshakes.burst)} at once, ${count(GATEWAY_LIMITS.handshakes.perSecond)} a second`,
    beyond: 'refused with 429'
  },
  { what: 'Sessions of a user', value: count(SLOT_LIMITS.perUser), beyond: '`auth_error`' },
  { what: 'Sessions of an address', value: count(SLOT_LIMITS.perAddress), beyond: '`auth_error`' },
  {
    what: 'Sessions of a platform',
    value: `${count((SLOT_LIMITS.total * SLOT_LIMITS.platformPercent) / 100)}, fewer while many platforms share them`,
    beyond: '`auth_error`'
  },
  { what: 'Failed authentications of a session', value: count(failuresMax), beyond: `closed with ${CLOSE.tooManyFailures}` },
  { what: 'Subscriptions of a session', value: count(subscriptionsMax), beyond: '`subscription_limit`' },
  { what: 'Levels of a book', value: `1 to ${DEPTH_LEVELS.most}`, beyond: '`invalid_request`' },
  { what: 'Bars of a snapshot', value: count(SNAPSHOT_BARS_MAX), beyond: '`invalid_request`' },
  { what: 'Bars of the broker’s that one request is made of', value: count(BROKER_BARS_MAX), beyond: '`invalid_request`' },
  { what: 'Length of a `request_id`', value: `1 to ${REQUEST_ID_MAX} characters`, beyond: '`invalid_request`' },
  { what: 'Size of a message you send', value: kibibytes(messageBytesMax), beyond: `closed with ${MESSAGE_TOO_BIG}` },
  {
    what: 'Messages you send',
    value: `${count(inbox.burst)} at once, ${count(inbox.perSecond)} a second`,
    beyond: `dropped with \`invalid_request\`; after ${count(inbox.warnings)} of them closed with ${CLOSE.tooManyFailures}`
  },
  { what: 'Updates of an open bar', value: '4 a second', beyond: 'the newest comes when its time does' },
  {
    what: 'What waits for you to read it',
    value: `${count(sendBuffer.messagesMax)} messages, ${kibibytes(sendBuffer.bytesMax)}`,
    beyond: `closed with ${CLOSE.slowConsumer}`
  },
  { what: 'Reading nothing while something waits', value: seconds(sendBuffer.stalledMs), beyond: `closed with ${CLOSE.slowConsumer}` }
]
