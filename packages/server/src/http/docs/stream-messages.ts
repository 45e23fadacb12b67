// The broker stream's messages as its descriptions show them: what answers what, and an example of each.
import * as wire from '../../wire/stream.ts'
import { balanceUpdate, orderUpdate, positionsUpdate } from '../../wire/update.ts'
import { type Announcement, type Message, message, type Request } from './described.ts'
import * as example from './stream-examples.ts'

const welcome = message(wire.welcome, example.welcome)
const authSuccess = message(wire.authSuccess, example.authSuccess)
const authError = message(wire.authError, example.authError)
const subscribed = message(wire.subscribed, example.subscribed)
const subscriptionFailed = message(wire.subscriptionFailed, example.subscriptionFailed)
const userSubscribed = message(wire.userSubscribed, example.userSubscribed)
const caughtUp = message(wire.caughtUp, example.caughtUp)
const userUnsubscribed = message(wire.userUnsubscribed, example.userUnsubscribed)
const pong = message(wire.pong, example.pong)
const error = message(wire.streamError, example.streamError)
const streamStatus = message(wire.streamStatus, example.streamStatus)
const updates = [
  message(orderUpdate, example.orderUpdate),
  message(positionsUpdate, example.positionsUpdate),
  message(balanceUpdate, example.balanceUpdate)
]

export const REQUESTS: readonly Request[] = [
  {
    ...message(wire.authenticate, example.authenticate),
    rules: `Until it has succeeded, \`subscribe\` and \`subscribe_user\` are answered with \`subscription_failed\`, and every other message is
ignored. A failure leaves the session open for another try within its time. A second \`authenticate\` after a success is answered with
\`auth_error\` and changes nothing.`,
    replies: [authSuccess, authError]
  },
  {
    ...message(wire.subscribe, example.subscribe),
    rules: `Topics choose the kinds of updates, for all users of the session. Each \`subscribe\` adds to the topics there are; none is ever taken
out. \`all\` includes topics that may come later. A topic that is unknown, repeated or spelled in other letters, an empty list, or \`all\` beside
others is refused as a whole.`,
    replies: [subscribed, subscriptionFailed]
  },
  {
    ...message(wire.subscribeUser, example.subscribeUser),
    rules: `Both a topic and a user are needed to receive an update. Without \`after\`, updates follow from now on. With it, everything after that
\`seq\` is sent first, in order and of the session’s topics, then \`caught_up\`, then what is new: nothing in between is missed or sent twice. An
\`after\` that is older than the log, too far back, or beyond the newest is refused: take a snapshot by REST, and subscribe without it.
Asking again for a user changes nothing and is answered; asking again with \`after\` delivers again from there.`,
    replies: [userSubscribed, caughtUp, subscriptionFailed]
  },
  {
    ...message(wire.unsubscribeUser, example.unsubscribeUser),
    rules: 'For a user who is not subscribed it changes nothing, and is answered all the same.',
    replies: [userUnsubscribed]
  },
  {
    ...message(wire.ping, example.ping),
    rules: 'The service never pings. Send one when nothing has come for a while, and take a missing `pong` for a dead connection.',
    replies: [pong]
  }
]

export const ANNOUNCEMENTS: readonly Announcement[] = [
  {
    id: 'welcome',
    summary: 'Greets the client, with the session’s id.',
    rules: 'Sent on connecting. Only `session_id` is for programs: it names the session in the service’s log.',
    messages: [welcome]
  },
  {
    id: 'updates',
    summary: 'Carries what changed for a subscribed user.',
    rules: `A user’s updates come strictly in the order of \`seq\`, which counts all topics of the user: a session that has not subscribed to all of
them sees gaps. Each holds whole records, never differences: apply it by replacing. What it carries can be read by REST already. Of two records
of an order the one with the higher \`revision\` is the newer, wherever it came from.`,
    messages: updates
  },
  {
    id: 'stream_status',
    summary: 'Reports how well a connection follows its broker.',
    rules: `Only for sessions that named \`stream_status\` in \`extensions\`: of each connection once after \`user_subscribed\`, then whenever it
changes.`,
    messages: [streamStatus]
  },
  {
    id: 'user_removed',
    summary: 'Reports that a subscribed user was deleted.',
    rules: 'The same message as the answer to `unsubscribe_user`. Nothing more comes of that user.',
    messages: [userUnsubscribed]
  },
  {
    id: 'error',
    summary: 'Reports that a message was not understood.',
    rules: 'For what is no JSON object, an unknown `action`, a wrong field, or too many messages. Before authentication only for the last.',
    messages: [error]
  }
]

/** The session of the examples. */
export const DIALOGUE: readonly Message[] = [
  welcome,
  ...[wire.authenticate, wire.subscribe, wire.subscribeUser].flatMap(schema => {
    const [request] = REQUESTS.filter(one => one.schema === schema)
    const [reply] = request?.replies ?? []
    return request === undefined || reply === undefined ? [] : [request, reply]
  }),
  ...updates,
  caughtUp,
  streamStatus
]
