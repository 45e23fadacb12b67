// The broker stream's close codes and limits as its descriptions show them; the numbers are those of the code that enforces them.

import { SESSION_LIMITS } from '../../stream/account/limits.ts'
import { REPLAY_MAX } from '../../stream/account/replay.ts'
import { SESSIONS_MAX } from '../../stream/account/session-slots.ts'
import { CLOSE } from '../../stream/client-connection.ts'
import { GATEWAY_LIMITS } from '../../stream/gateway.ts'
import { INBOX_LIMITS } from '../../stream/inbox.ts'
import { type CloseCode, count, kibibytes, type Limit, seconds } from './described.ts'

const { authenticateMs, failuresMax, usersMax } = SESSION_LIMITS
const { burst, perSecond, warnings } = INBOX_LIMITS
const { messageBytesMax, unauthenticated, handshakes, sendBuffer } = GATEWAY_LIMITS
/** Of the WebSocket protocol itself (RFC 6455, section 7.4.1). */
const MESSAGE_TOO_BIG = 1009
const AGAIN = 'Connect again, and resume with `after`.'

export const CLOSE_CODES: readonly CloseCode[] = [
  { code: CLOSE.goingAway, meaning: 'The service is shutting down. What was due was sent before.', remedy: AGAIN },
  { code: MESSAGE_TOO_BIG, meaning: `A message you sent was larger than ${kibibytes(messageBytesMax)}.`, remedy: 'Send smaller messages.' },
  { code: CLOSE.internal, meaning: 'Something went wrong here, in this session only.', remedy: AGAIN },
  {
    code: CLOSE.unauthenticated,
    meaning: `No successful \`authenticate\` within ${seconds(authenticateMs)}, or the client secret was replaced or has ended.`,
    remedy: 'Connect again with the present secret.'
  },
  {
    code: CLOSE.ended,
    meaning: 'The platform, or the key this session authenticated with, was disabled.',
    remedy: 'Do not come back before the operator says so.'
  },
  { code: CLOSE.slowConsumer, meaning: 'Slow consumer: too much waited to be read.', remedy: `${AGAIN} Read first and work afterwards.` },
  {
    code: CLOSE.tooManyFailures,
    meaning: `Too many failures: ${failuresMax} failed authentications, or more messages than may come.`,
    remedy: 'Do not go on as before: check the credentials, or send less.'
  }
]

export const LIMITS: readonly Limit[] = [
  { what: 'Time to authenticate', value: seconds(authenticateMs), beyond: `closed with ${CLOSE.unauthenticated}` },
  {
    what: 'Sockets of one address that have not authenticated',
    value: count(unauthenticated.perAddress),
    beyond: `the next is refused with 429 until the oldest has had ${seconds(unauthenticated.graceMs)}; that one is then closed with ${CLOSE.unauthenticated}`
  },
  {
    what: 'Handshakes of one address',
    value: `${count(handshakes.burst)} at once, ${count(handshakes.perSecond)} a second`,
    beyond: 'refused with 429'
  },
  { what: 'Failed authentications of a session', value: count(failuresMax), beyond: `closed with ${CLOSE.tooManyFailures}` },
  { what: 'Authenticated sessions of a `client_id`', value: count(SESSIONS_MAX), beyond: '`auth_error`' },
  { what: 'Users of a session', value: count(usersMax), beyond: '`subscription_failed`' },
  { what: 'Size of a message you send', value: kibibytes(messageBytesMax), beyond: `closed with ${MESSAGE_TOO_BIG}` },
  {
    what: 'Messages you send',
    value: `${count(burst)} at once, ${count(perSecond)} a second`,
    beyond: `dropped with \`error\`; after ${count(warnings)} of them closed with ${CLOSE.tooManyFailures}`
  },
  {
    what: 'What waits for you to read it',
    value: `${count(sendBuffer.messagesMax)} messages, ${kibibytes(sendBuffer.bytesMax)}`,
    beyond: `closed with ${CLOSE.slowConsumer}`
  },
  { what: 'Reading nothing while something waits', value: seconds(sendBuffer.stalledMs), beyond: `closed with ${CLOSE.slowConsumer}` },
  { what: 'Updates that `after` replays', value: count(REPLAY_MAX), beyond: '`subscription_failed`' }
]
