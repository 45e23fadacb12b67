import type { Stream } from './described.ts'
import { MARKET_ANNOUNCEMENTS, MARKET_DIALOGUE, MARKET_REQUESTS } from './market-messages.ts'
import { MARKET_CLOSE_CODES, MARKET_ERRORS, MARKET_LIMITS } from './market-rules.ts'

/** The stream of what a broker's market does. */
export const MARKET_STREAM: Stream = {
  id: 'market_data',
  anchor: 'market-data',
  title: 'Market data stream',
  path: '/market-data/stream',
  summary: 'Bars, trades, quotes, depth and options chains of the broker behind a user’s connection, and past bars.',
  prefix: 'market_',
  introduction: `Market data of one user’s connection, as the broker has it: bars, trades, quotes, depth and options chains, and past bars.

1. Get a token with \`GET /connections/{connection_id}/token\`.
2. Connect, and send \`authenticate\` with the token within 30 seconds. Nothing is sent before.
3. Send \`subscribe\` for each channel and symbol. Updates carry the \`sub_id\` of the answer, and most of them no \`type\`.
4. When the connection is lost, do the same again with the same token, with \`backfill_nbars\` for bars.

Every message of yours has a \`request_id\`, which its answer carries. All numbers are strings, \`ts\` is in nanoseconds since the Unix epoch.

A token is for one connection, and lives 24 hours. A newer one of the same connection takes its place for new sessions at once, and ends the sessions
that are up when it is first used. Of all tokens of a user only the one last used has sessions, and they come from one address.

Quotes, depth, open bars and contracts are states: a reader who takes less than comes gets the newest. Trades and closed bars are never left out: they
wait within bounds, and beyond them the session is closed.`,
  opening: `publishes bars, trades, quotes, depth and options chains of the broker behind one connection of a user, and gives past bars. It takes a token of
\`GET /connections/{connection_id}/token\`. Messages are JSON text: yours carry \`action\` and a \`request_id\`, which the answer repeats; updates carry
the \`sub_id\` of their subscription, and most of them no \`type\`. Numbers are strings, \`ts\` is in nanoseconds since the Unix epoch.`,
  closing: `A token is for one connection and lives 24 hours. A newer one of the same connection takes its place for new sessions at once, and ends the
sessions that are up when it is first used; of all tokens of a user only the one last used has sessions, and they come from one address. Quotes, depth,
open bars and contracts are conflated for a slow reader, which receives the newest; trades and closed bars never are. When the connection is lost, connect again with the
same token and subscribe again.`,
  security: {
    name: 'accessToken',
    scheme: {
      type: 'apiKey',
      in: 'password',
      description:
        'A token of `GET /connections/{connection_id}/token`, in the first message, `authenticate`. No header and no query parameter is read.'
    }
  },
  requests: MARKET_REQUESTS,
  announcements: MARKET_ANNOUNCEMENTS,
  dialogue: MARKET_DIALOGUE,
  closeCodes: MARKET_CLOSE_CODES,
  limits: MARKET_LIMITS,
  errorCodes: MARKET_ERRORS
}
