import type { Stream } from './described.ts'
import { ANNOUNCEMENTS, DIALOGUE, REQUESTS } from './stream-messages.ts'
import { CLOSE_CODES, LIMITS } from './stream-rules.ts'

/** The stream of changes in accounts. */
export const BROKER_STREAM: Stream = {
  id: 'stream',
  anchor: 'stream',
  title: 'Broker stream',
  path: '/stream',
  summary: 'Updates of orders, positions and balances.',
  prefix: '',
  introduction: `Every change of an order, a position or a balance of the users that you subscribe to, at any broker, as it happens.

1. Connect. The service sends \`welcome\`.
2. Send \`authenticate\` with the platform’s credentials.
3. Send \`subscribe\` for the topics and \`subscribe_user\` for each user.
4. Read a snapshot by REST, and apply the updates to it. Store each user’s last \`seq\`.
5. When the connection is lost, repeat these steps, with \`after\`.

Updates are exactly what \`GET /events\` of the REST API lists, so you can verify that you missed nothing.

When a user connects an account, its present state also arrives as updates: the balance, the positions, the open orders and the orders of
the day before, including those that have ended. \`entry_time\` says when an order was placed.

A session that cannot keep up is closed; updates are never conflated.`,
  opening: `publishes every change of an order, a position or a balance of the users that you subscribe to, as it happens. Messages are JSON text:
yours carry \`action\`, the service’s carry \`type\`. Ignore unknown types and fields.`,
  closing: `Subscribe first, then read a snapshot by REST, then apply updates by replacing records. Store the last \`seq\` of each user. When the
connection is lost, connect again, authenticate, repeat all subscriptions, and send that \`seq\` as \`after\`. \`GET /events\` lists the same
updates over REST, with the same \`seq\`.`,
  security: {
    name: 'platform',
    scheme: {
      type: 'userPassword',
      description:
        'The platform’s `client_id` and `client_secret`, in the first message, `authenticate`. Headers and query parameters are not read.'
    }
  },
  requests: REQUESTS,
  announcements: ANNOUNCEMENTS,
  dialogue: DIALOGUE,
  closeCodes: CLOSE_CODES,
  limits: LIMITS,
  errorCodes: []
}
