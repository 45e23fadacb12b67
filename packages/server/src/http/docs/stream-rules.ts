// The broker stream's close codes and limits for the documentation. The numbers are imported from the code that enforces them.

import { SESSION_LIMITS } from '../../stream/account/limits.ts'
import { REPLAY_MAX } from '../../stream/account/replay.ts'
import { SESSIONS_MAX } from '../../stream/account/session-slots.ts'
import { CLOSE } from '../../stream/client-connection.ts'
import { GATEWAY_LIMITS } from '../../stream/gateway.ts'
import { INBOX_LIMITS } from '../../stream/inbox.ts'
import { SLOW_CUT_MS } from '../../stream/socket-connection.ts'
import { type CloseCode, count, kibibytes, type Limit, seconds } from './described.ts'

const { authenticateMs, failuresMax, usersMax } = SESSION_LIMITS
const { burst, perSecond, warnings } = INBOX_LIMITS
const { messageBytesMax, unauthenticated, handshakes, sendBuffer } = GATEWAY_LIMITS
/** Of the WebSocket protocol itself (RFC 6455, section 7.4.1). */
const MESSAGE_TOO_BIG = 1009
const AGAIN = 'Connect again, and resume with `after`.'

export const CLOSE_CODES: readonly CloseCode[] = [
  { code: CLOSE.goingAway, meaning: 'The service is shutting down. Pending messages were sent first.', remedy: AGAIN },
  { code: MESSAGE_TOO_BIG, meaning: `A message you sent was larger than ${kibibytes(messageBytesMax)}.`, remedy: 'Send smaller messages.' },
  { code: CLOSE.internal, meaning: 'An internal error ended this session. Other sessions are not affected.', remedy: AGAIN },
  {
    code: CLOSE.tryAgain,
    meaning: 'The credentials cannot be checked just now, for example because the database does not answer. They may well be right.',
    remedy: 'Connect again in a second, with the same credentials.'
  },
  {
    code: CLOSE.unauthenticated,
    meaning: `No successful \`authenticate\` within ${seconds(authenticateMs)}, or the client secret was replaced or expired.`,
    remedy: 'Connect again with the current secret.'
  },
  {
    code: CLOSE.ended,
    meaning: 'The platform, or the key this session authenticated with, was disabled.',
    remedy: 'Do not reconnect until the operator says so.'
  },
  {
    code: CLOSE.slowConsumer,
    meaning: `Slow consumer: too many unread messages. This comes behind what is on its way: read on to receive it. After ${seconds(SLOW_CUT_MS)} the connection is cut, and you see 1006.`,
    remedy: `${AGAIN} Keep reading while you process.`
  },
  {
    code: CLOSE.tooManyFailures,
    meaning: `Too many failures: ${failuresMax} failed authentications, or messages above the rate limit.`,
    remedy: 'Check the credentials, or send fewer messages, before you reconnect.'
  }
]

export const LIMITS: readonly Limit[] = [
  { what: 'Time to authenticate', value: seconds(authenticateMs), beyond: `closed with ${CLOSE.unauthenticated}` },
  {
    what: 'Unauthenticated sockets of one address',
    value: count(unauthenticated.perAddress),
    beyond: `the next is refused with 429 until the oldest has been open for ${seconds(unauthenticated.graceMs)}; the oldest is then closed with ${CLOSE.unauthenticated}`
  },
  {
    what: 'Handshakes from one address',
    value: `${count(handshakes.burst)} at once, ${count(handshakes.perSecond)} a second`,
    beyond: 'refused with 429'
  },
  { what: 'Failed authentications in a session', value: count(failuresMax), beyond: `closed with ${CLOSE.tooManyFailures}` },
  { what: 'Authenticated sessions of a `client_id`', value: count(SESSIONS_MAX), beyond: '`auth_error`' },
  { what: 'Users in a session', value: count(usersMax), beyond: '`subscription_failed`' },
  { what: 'Size of a message that you send', value: kibibytes(messageBytesMax), beyond: `closed with ${MESSAGE_TOO_BIG}` },
  {
    what: 'Messages that you send',
    value: `${count(burst)} at once, ${count(perSecond)} a second`,
    beyond: `dropped with \`error\`; closed with ${CLOSE.tooManyFailures} after ${count(warnings)} such errors`
  },
  {
    what: 'Messages that you have not read yet',
    value: `${count(sendBuffer.messagesMax)} messages, ${kibibytes(sendBuffer.bytesMax)}`,
    beyond: `closed with ${CLOSE.slowConsumer}`
  },
  { what: 'Time without reading while messages wait', value: seconds(sendBuffer.stalledMs), beyond: `closed with ${CLOSE.slowConsumer}` },
  { what: 'Updates that `after` replays', value: count(REPLAY_MAX), beyond: '`subscription_failed`' }
]
