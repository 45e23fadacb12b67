// The broker stream's messages for the documentation: each with its replies and an example.
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
ignored. After a failure you may try again within the time to authenticate. A second \`authenticate\` after a success is answered with
\`auth_error\` and changes nothing.`,
    replies: [authSuccess, authError]
  },
  {
    ...message(wire.subscribe, example.subscribe),
    rules: `Topics select the kinds of updates for all users of the session. Each \`subscribe\` adds topics; none is ever removed. \`all\`
includes topics that future versions add. The whole message is refused if a topic is unknown, repeated or written in another case, if the
list is empty, or if \`all\` stands beside other topics.`,
    replies: [subscribed, subscriptionFailed]
  },
  {
    ...message(wire.subscribeUser, example.subscribeUser),
    rules: `An update needs both a topic and a user. Without \`after\`, updates start now. With \`after\`, the service first sends every update of
the session’s topics after that \`seq\`, in order, then \`caught_up\`, then new updates; none is missed or sent twice. An \`after\` that is
older than the log, too far back, or beyond the newest update is refused: read a snapshot by REST, and subscribe without it. Subscribing
again to the same user is answered and changes nothing; subscribing again with \`after\` replays from there.`,
    replies: [userSubscribed, caughtUp, subscriptionFailed]
  },
  {
    ...message(wire.unsubscribeUser, example.unsubscribeUser),
    rules: 'For a user who is not subscribed, the answer is the same and nothing changes.',
    replies: [userUnsubscribed]
  },
  {
    ...message(wire.ping, example.ping),
    rules: 'The service never pings. Send a `ping` after a silence, and treat a missing `pong` as a dead connection.',
    replies: [pong]
  }
]

export const ANNOUNCEMENTS: readonly Announcement[] = [
  {
    id: 'welcome',
    summary: 'Greets the client with the session’s id.',
    rules: 'Sent when you connect. `session_id` identifies the session in the service’s log; programs can ignore the other fields.',
    messages: [welcome]
  },
  {
    id: 'updates',
    summary: 'Carries what changed for a subscribed user.',
    rules: `A user’s updates come strictly in the order of \`seq\`. It counts all topics of the user, so a session that is not subscribed to all
topics sees gaps. Each update carries whole records, never differences: apply it by replacing. REST already returns what an update carries.
Of two records of the same order, from the stream or from REST, the one with the higher \`revision\` is newer.`,
    messages: updates
  },
  {
    id: 'stream_status',
    summary: 'Reports how well a connection follows its broker.',
    rules: `Only for sessions that request \`stream_status\` in \`extensions\`. Sent once for each connection after \`user_subscribed\`, then
whenever it changes.`,
    messages: [streamStatus]
  },
  {
    id: 'user_removed',
    summary: 'Reports that a subscribed user was deleted or disabled.',
    rules: 'The same message as the answer to `unsubscribe_user`. No more updates of that user follow.',
    messages: [userUnsubscribed]
  },
  {
    id: 'error',
    summary: 'Reports that a message was not understood.',
    rules: `Sent for a message that is not a JSON object, an unknown \`action\`, an invalid field, or too many messages. Before authentication it
is sent only for too many messages.`,
    messages: [error]
  }
]

/** The example session. */
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
