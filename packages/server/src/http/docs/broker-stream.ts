import type { Stream } from './described.ts'
import { ANNOUNCEMENTS, DIALOGUE, REQUESTS } from './stream-messages.ts'
import { CLOSE_CODES, LIMITS } from './stream-rules.ts'

/** The stream of what happens to accounts. */
export const BROKER_STREAM: Stream = {
  id: 'stream',
  anchor: 'stream',
  title: 'Broker stream',
  path: '/stream',
  summary: 'Updates of orders, positions and balances.',
  prefix: '',
  introduction: `Every change of an order, a position or a balance of the users you name, at any broker, as it happens.

1. Connect. The service sends \`welcome\`.
2. Send \`authenticate\` with the platform’s credentials.
3. Send \`subscribe\` for the topics and \`subscribe_user\` for each user.
4. Read a snapshot by REST, and apply what comes. Keep each user’s last \`seq\`.
5. When the connection is lost, do the same again, with \`after\`.

Updates are exactly what \`GET /events\` of the REST API lists, so that you can prove that nothing was missed.

When a user connects an account, what its broker already shows comes as updates, too: its balance, its positions, its open orders and those of the day before, ended ones included. \`entry_time\` says when an order was placed.

A session that cannot keep up is closed; updates are never conflated.`,
  opening: `publishes every change of an order, a position or a balance of the users you name, as it happens. Messages are JSON text: yours carry \`action\`,
the service’s \`type\`. Ignore a \`type\`, and a field, that you do not know.`,
  closing: `First subscribe, then read a snapshot by REST, then apply updates by replacing records, and keep the last \`seq\` of each user. When the connection
is lost, connect again, authenticate, repeat all subscriptions, and give that \`seq\` as \`after\`. \`GET /events\` reads the same updates over
REST, with the same numbers.`,
  security: {
    name: 'platform',
    scheme: {
      type: 'userPassword',
      description:
        'The platform’s `client_id` and `client_secret`, in the first message, `authenticate`. No header and no query parameter is read.'
    }
  },
  requests: REQUESTS,
  announcements: ANNOUNCEMENTS,
  dialogue: DIALOGUE,
  closeCodes: CLOSE_CODES,
  limits: LIMITS,
  errorCodes: []
}
