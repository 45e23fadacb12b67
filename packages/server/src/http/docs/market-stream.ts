import type { Stream } from './described.ts'
import { MARKET_ANNOUNCEMENTS, MARKET_DIALOGUE, MARKET_REQUESTS } from './market-messages.ts'
import { MARKET_CLOSE_CODES, MARKET_ERRORS, MARKET_LIMITS } from './market-rules.ts'

/** The stream of a broker's market data. */
export const MARKET_STREAM: Stream = {
  id: 'market_data',
  anchor: 'market-data',
  title: 'Market data stream',
  path: '/market-data/stream',
  summary: 'Bars, trades, quotes, depth and options chains of the broker behind a user’s connection, and past bars.',
  prefix: 'market_',
  introduction: `Market data of one user’s connection, as its broker reports it: bars, trades, quotes, depth and options chains, and past bars.

1. Get a token with \`GET /connections/{connection_id}/token\`.
2. Connect, and send \`authenticate\` with the token within 30 seconds. The service sends nothing before that.
3. Send \`subscribe\` for each channel and symbol. Updates carry the \`sub_id\` of the reply; most have no \`type\`.
4. When the connection is lost, repeat steps 2 and 3 with the same token, with \`backfill_nbars\` for bars.

Each of your messages has a \`request_id\`, which the reply repeats. All numbers are strings. \`ts\` is in nanoseconds since the Unix epoch.

A token is valid for one connection and for 24 hours. A newer token of the same connection supersedes it at once: the older token opens no
more sessions, and its open sessions end when the newer token is first used. Only the token that a user used last has sessions, and all of
them come from one address.

Quotes, depth, open bars and contracts are states: a slow reader receives only the newest. Trades and closed bars are never left out: they
wait within limits, and beyond the limits the session is closed.`,
  opening: `publishes bars, trades, quotes, depth and options chains of the broker behind one connection of a user, and serves past bars. It needs a
token from \`GET /connections/{connection_id}/token\`. Messages are JSON text: yours carry \`action\` and a \`request_id\`, which the reply
repeats. Updates carry the \`sub_id\` of their subscription; most have no \`type\`. Numbers are strings. \`ts\` is in nanoseconds since the
Unix epoch.`,
  closing: `A token is valid for one connection and for 24 hours. A newer token of the same connection supersedes it at once: the older token opens
no more sessions, and its open sessions end when the newer token is first used. Only the token that a user used last has sessions, and all of
them come from one address. Quotes, depth, open bars and contracts are conflated for a slow reader, which receives only the newest. Trades
and closed bars are never conflated. When the connection is lost, connect again with the same token and subscribe again.`,
  security: {
    name: 'accessToken',
    scheme: {
      type: 'apiKey',
      in: 'password',
      description:
        'A token from `GET /connections/{connection_id}/token`, in the first message, `authenticate`. Headers and query parameters are not read.'
    }
  },
  requests: MARKET_REQUESTS,
  announcements: MARKET_ANNOUNCEMENTS,
  dialogue: MARKET_DIALOGUE,
  closeCodes: MARKET_CLOSE_CODES,
  limits: MARKET_LIMITS,
  errorCodes: MARKET_ERRORS
}
