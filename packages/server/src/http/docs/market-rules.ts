// The market data stream's codes and limits for the documentation. The numbers are imported from the code that enforces them.
import { BROKER_BARS_MAX, SNAPSHOT_BARS_MAX } from '@trunkline/core/app/market/history-limits'
import { CLOSE } from '../../stream/client-connection.ts'
import { GATEWAY_LIMITS } from '../../stream/gateway.ts'
import { MARKET_CONNECTION_LIMITS } from '../../stream/market/index.ts'
import { MARKET_SESSION_LIMITS } from '../../stream/market/limits.ts'
import { SLOT_LIMITS } from '../../stream/market/session-slots.ts'
import { SLOW_CUT_MS } from '../../stream/socket-connection.ts'
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
      'The token is unknown, older than 24 hours, or superseded by a newer one; or there are too many sessions; or the session is already authenticated.',
    remedy: NEW_TOKEN
  },
  not_authenticated: { meaning: 'A request came before `authenticate` had succeeded.', remedy: 'Send `authenticate` first.' },
  invalid_request: {
    meaning: 'The message is not a JSON object; or a field is missing, of the wrong type or out of bounds; or you send too many messages.',
    remedy: 'Correct the field that the message names.'
  },
  unknown_action: { meaning: 'The `action` does not exist.', remedy: 'Use one of the actions described here.' },
  unsupported_channel: {
    meaning: 'The channel does not exist, or this broker does not offer it.',
    remedy: 'See `market_data` in `GET /brokers`.'
  },
  unsupported_symbol: {
    meaning: 'The symbol is malformed or unknown to the broker, or the options chain does not have this expiration.',
    remedy: 'Check the spelling and the format for this kind of instrument.'
  },
  unsupported_interval: {
    meaning: 'The interval is malformed, zero or too long, or cannot be made from what this broker offers.',
    remedy: 'Use a number and a unit, as in `5m`.'
  },
  unsupported_session: {
    meaning: 'The session is unknown, or this broker does not offer it.',
    remedy: 'Use `BrokerDefault`, or leave it out.'
  },
  subscription_not_found: { meaning: 'This session has no subscription with that `sub_id`.', remedy: 'Send `list_subscriptions`.' },
  subscription_limit: {
    meaning: 'The session has the maximum number of subscriptions.',
    remedy: 'End one first, or open another session.'
  },
  connection_broken: {
    meaning: 'The broker rejects the connection, or the connection or its user was deleted.',
    remedy: 'Have the user connect again, and get a token for the new connection.'
  },
  broker_unavailable: {
    meaning: 'The broker does not respond, its rate limit leaves no capacity, or it sends nothing for the subscriptions in `sub_ids`.',
    remedy: 'Wait: subscriptions resume on their own. Send any other request again.'
  },
  internal_error: {
    meaning: 'An internal error.',
    remedy: 'Try again in a second. If it persists, report the `session_id` to the operator.'
  }
}

export const MARKET_ERRORS: readonly ErrorCode[] = Object.entries(ERRORS).map(([code, error]) => ({ code, ...error }))

export const MARKET_CLOSE_CODES: readonly CloseCode[] = [
  { code: CLOSE.goingAway, meaning: 'The service is shutting down. Pending messages were sent first.', remedy: AGAIN },
  { code: MESSAGE_TOO_BIG, meaning: `A message you sent was larger than ${kibibytes(messageBytesMax)}.`, remedy: 'Send smaller messages.' },
  { code: CLOSE.internal, meaning: 'An internal error ended this session. Other sessions are not affected.', remedy: AGAIN },
  { code: CLOSE.unauthenticated, meaning: `No successful \`authenticate\` within ${seconds(authenticateMs)}.`, remedy: NEW_TOKEN },
  {
    code: CLOSE.ended,
    meaning:
      'Another token of the user was used, or this token was used from another address; or the user’s secret was replaced; or the connection was deleted or broke. The preceding `error` says which.',
    remedy:
      'Do not just connect again. After another token or address, find out who uses it; after a new secret, get a new token; after a connection that was deleted or broke, have the user connect again.'
  },
  {
    code: CLOSE.slowConsumer,
    meaning: `Slow consumer: too many unread messages. This comes behind what is on its way: read on to receive it. After ${seconds(SLOW_CUT_MS)} the connection is cut, and you see 1006.`,
    remedy: `${AGAIN} Keep reading while you process, or subscribe to less.`
  },
  {
    code: CLOSE.tooManyFailures,
    meaning: `Too many failures: ${failuresMax} failed authentications, or messages above the rate limit.`,
    remedy: 'Get a new token, or send fewer messages, before you reconnect.'
  }
]

export const MARKET_LIMITS: readonly Limit[] = [
  { what: 'Time to authenticate', value: seconds(authenticateMs), beyond: `closed with ${CLOSE.unauthenticated}` },
  { what: 'Lifetime of a token', value: '24 hours', beyond: '`auth_error`; an open session stays open' },
  {
    what: 'Unauthenticated sockets of one address',
    value: count(GATEWAY_LIMITS.unauthenticated.perAddress),
    beyond: `the next is refused with 429 until the oldest has been open for ${seconds(GATEWAY_LIMITS.unauthenticated.graceMs)}; the oldest is then closed with ${CLOSE.unauthenticated}`
  },
  {
    what: 'Handshakes from one address',
    value: `${count(GATEWAY_LIMITS.handshakes.burst)} at once, ${count(GATEWAY_LIMITS.handshakes.perSecond)} a second`,
    beyond: 'refused with 429'
  },
  { what: 'Sessions of a user', value: count(SLOT_LIMITS.perUser), beyond: '`auth_error`' },
  { what: 'Sessions from one address', value: count(SLOT_LIMITS.perAddress), beyond: '`auth_error`' },
  {
    what: 'Sessions of a platform',
    value: `${count((SLOT_LIMITS.total * SLOT_LIMITS.platformPercent) / 100)}, fewer while many platforms share them`,
    beyond: '`auth_error`'
  },
  { what: 'Failed authentications in a session', value: count(failuresMax), beyond: `closed with ${CLOSE.tooManyFailures}` },
  { what: 'Subscriptions in a session', value: count(subscriptionsMax), beyond: '`subscription_limit`' },
  { what: 'Levels of an order book', value: `1 to ${DEPTH_LEVELS.most}`, beyond: '`invalid_request`' },
  { what: 'Bars in a snapshot', value: count(SNAPSHOT_BARS_MAX), beyond: '`invalid_request`' },
  { what: 'Broker bars needed for one request', value: count(BROKER_BARS_MAX), beyond: '`invalid_request`' },
  { what: 'Length of a `request_id`', value: `1 to ${REQUEST_ID_MAX} characters`, beyond: '`invalid_request`' },
  { what: 'Size of a message that you send', value: kibibytes(messageBytesMax), beyond: `closed with ${MESSAGE_TOO_BIG}` },
  {
    what: 'Messages that you send',
    value: `${count(inbox.burst)} at once, ${count(inbox.perSecond)} a second`,
    beyond: `dropped with \`invalid_request\`; closed with ${CLOSE.tooManyFailures} after ${count(inbox.warnings)} such errors`
  },
  { what: 'Updates of an open bar', value: '4 a second', beyond: 'only the newest is sent, when the next one is due' },
  {
    what: 'Messages that you have not read yet',
    value: `${count(sendBuffer.messagesMax)} messages, ${kibibytes(sendBuffer.bytesMax)}`,
    beyond: `closed with ${CLOSE.slowConsumer}`
  },
  { what: 'Time without reading while messages wait', value: seconds(sendBuffer.stalledMs), beyond: `closed with ${CLOSE.slowConsumer}` }
]
