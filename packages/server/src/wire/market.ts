// The messages of the market data stream, as `/asyncapi.json` describes them.
import { MARKET_DATA_CHANNELS, SESSIONS } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { day, decimal, nullable, oneOf, record, timestamp, uuid } from './common.ts'
import { STREAM_VERSION } from './stream.ts'

export const MARKET_ERROR_CODES = [
  'auth_error',
  'not_authenticated',
  'invalid_request',
  'unknown_action',
  'unsupported_channel',
  'unsupported_symbol',
  'unsupported_interval',
  'unsupported_session',
  'subscription_not_found',
  'subscription_limit',
  'connection_broken',
  'broker_unavailable',
  'internal_error'
] as const
export type MarketErrorCode = (typeof MARKET_ERROR_CODES)[number]

export const DEPTH_LEVELS = { most: 10, fallback: 5 } as const
export const REQUEST_ID_MAX = 128

const message = Type.String({ description: 'What happened, and what to do.' })
const requestId = Type.String({ minLength: 1, maxLength: REQUEST_ID_MAX, description: 'Chosen by you. The reply repeats it.' })
const symbol = Type.String({
  maxLength: 40,
  description: 'Shares `AAPL`, options `AAPL261218C00200000`, futures `ESZ26`, crypto `BTC/USD`.',
  examples: ['AAPL']
})
const INTERVAL_FORM = 'A number and a unit: `m`, `h`, `d`, `w`, `M`, `y`. Case matters. `4h` is `240m`.'
const interval = Type.String({
  description: INTERVAL_FORM,
  examples: ['1m']
})
const channel = oneOf(MARKET_DATA_CHANNELS)
const SESSION_MEANING = 'The part of the trading day. Ignored for anything but shares.'
const session = oneOf(SESSIONS, { description: SESSION_MEANING })
const subId = Type.String({ pattern: '^[1-9][0-9]*$', description: 'Counts from "1" in each session.', examples: ['1'] })
const nanos = Type.String({ pattern: '^[0-9]+$', description: 'Nanoseconds since the Unix epoch.', examples: ['1763735400000000000'] })

export const marketAuthenticate = record('MarketAuthenticate', 'Authenticates the session with an access token, within 30 seconds.', {
  action: Type.Literal('authenticate'),
  access_token: Type.String({ description: 'From `GET /connections/{connection_id}/token`.' }),
  request_id: requestId,
  version: Type.Optional(Type.Literal(STREAM_VERSION))
})
export const marketSubscribe = record('MarketSubscribe', 'Subscribes to one channel of one symbol.', {
  action: Type.Literal('subscribe'),
  channel,
  symbol,
  request_id: requestId,
  interval: Type.Optional({ ...interval, description: `Bars only, required there. ${INTERVAL_FORM}` }),
  session: Type.Optional({ ...session, description: `Bars and trades; \`BrokerDefault\` by default. ${SESSION_MEANING}` }),
  backfill_nbars: Type.Optional(Type.Integer({ minimum: 0, description: 'Bars only: the number of past bars to send first.' })),
  n_levels: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DEPTH_LEVELS.most,
      description: `Depth only: levels of each side; ${DEPTH_LEVELS.fallback} by default.`
    })
  ),
  greeks: Type.Optional(Type.Boolean({ description: 'Options chains only: whether to include the greeks. False by default.' })),
  expiration: Type.Optional({ ...day, description: 'Options chains only, required there.' })
})
export const marketList = record('MarketListSubscriptions', 'Lists the subscriptions of this session.', {
  action: Type.Literal('list_subscriptions'),
  request_id: requestId
})
export const marketUnsubscribe = record('MarketUnsubscribe', 'Ends one subscription.', {
  action: Type.Literal('unsubscribe'),
  sub_id: subId,
  request_id: requestId
})
export const marketSnapshot = record('MarketSnapshot', 'Requests past bars, at most 50,000.', {
  action: Type.Literal('snapshot'),
  request_id: requestId,
  symbol,
  start_time: { ...timestamp, description: 'Start of the window: the earliest bar start. RFC 3339 with seconds and an offset.' },
  end_time: { ...timestamp, description: 'End of the window: all bars start before this time. Same format.' },
  data_type: Type.Literal('bars'),
  interval
})

const subscription = { broker: Type.String(), channel, symbol }
/** Fields that only some channels have. */
const parameters = { interval: Type.Optional(interval), session: Type.Optional(Type.String({ description: 'As in the request.' })) }

export const marketAuthSuccess = record('MarketAuthSuccess', 'The token was accepted.', {
  type: Type.Literal('auth_success'),
  message,
  request_id: requestId,
  session_id: uuid,
  version: Type.Literal(STREAM_VERSION)
})
export const marketSubscribed = record(
  'MarketSubscribed',
  'Updates with this `sub_id` follow. `interval` for bars, `session` for bars and trades.',
  {
    type: Type.Literal('subscription_success'),
    message,
    ...subscription,
    ...parameters,
    request_id: requestId,
    sub_id: subId
  }
)
/** Present for every channel, but empty for channels that do not have the field. */
const everyParameter = {
  interval: Type.String({ description: 'Empty unless the channel is bars.' }),
  session: Type.String({ description: 'Empty unless the channel is bars or trades.' })
}
export const marketSubscriptions = record('MarketSubscriptions', 'The subscriptions of this session.', {
  type: Type.Literal('subscriptions_list'),
  subscriptions: Type.Array(
    Type.Object(
      {
        ...subscription,
        ...everyParameter,
        sub_id: subId
      },
      { additionalProperties: false }
    )
  ),
  request_id: requestId,
  version: Type.Literal(STREAM_VERSION)
})
export const marketUnsubscribed = record('MarketUnsubscribed', 'The subscription ended. No more updates with this `sub_id` follow.', {
  type: Type.Literal('unsubscription_success'),
  message,
  ...subscription,
  ...everyParameter,
  request_id: requestId,
  sub_id: subId
})
export const marketError = record(
  'MarketError',
  'A failed request, which changed nothing; or, if `request_id` is null, a problem of the session.',
  {
    type: Type.Literal('error'),
    error_code: oneOf(MARKET_ERROR_CODES),
    request_id: nullable(Type.String(), 'The `request_id` of the request; null if there was none.'),
    message,
    sub_ids: Type.Optional(
      Type.Array(subId, { description: 'With `broker_unavailable`: the interrupted subscriptions. They resume on their own.' })
    )
  }
)

const bar = {
  o: decimal,
  h: decimal,
  l: decimal,
  c: decimal,
  v: decimal,
  ts: { ...nanos, description: 'Start of the bar, in nanoseconds since the Unix epoch.' },
  st: oneOf(['c', 'o'], { description: '`c`: closed. `o`: open, and may still change.' })
}

export const marketSnapshotResponse = record('MarketSnapshotResponse', 'Past bars, ascending.', {
  type: Type.Literal('snapshot_response'),
  request_id: requestId,
  symbol,
  data_type: Type.Literal('bars'),
  interval,
  start_time: timestamp,
  end_time: timestamp,
  data: Type.Array(Type.Object({ ...bar, ev: Type.Literal('b'), sym: symbol }, { additionalProperties: false }))
})

export const barUpdate = record(
  'BarUpdate',
  'A bar. Sent when an open bar changes, at most four times a second, and once when it closes.',
  {
    ...bar,
    sub_id: subId
  }
)
export const tradeUpdate = record('TradeUpdate', 'A trade.', {
  p: decimal,
  s: decimal,
  n: Type.String({ description: 'The venue; may be empty.' }),
  ts: nanos,
  sub_id: subId
})
export const quoteUpdate = record('QuoteUpdate', 'The best bid and ask; null if there is none.', {
  bp: nullable(decimal),
  bs: nullable(decimal),
  ap: nullable(decimal),
  as: nullable(decimal),
  ts: nanos,
  sub_id: subId
})
const level = Type.Array(Type.String(), {
  minItems: 5,
  maxItems: 5,
  description: 'Price, size, number of orders (empty if unknown), exchange code (may be empty), time in nanoseconds since the Unix epoch.'
})
export const depthUpdate = record('DepthUpdate', 'The order book, best prices first. It replaces the previous one.', {
  type: Type.Literal('depth_update'),
  b: Type.Array(level, { maxItems: DEPTH_LEVELS.most }),
  a: Type.Array(level, { maxItems: DEPTH_LEVELS.most }),
  sub_id: subId
})
const figure = nullable(decimal)
const greek = Type.Optional(figure)
export const chainUpdate = record('OptionsChainUpdate', 'One contract of the chain. It has the six greeks only if they were requested.', {
  delta: greek,
  gamma: greek,
  theta: greek,
  rho: greek,
  vega: greek,
  iv: greek,
  ask: figure,
  bid: figure,
  mid: figure,
  ask_size: figure,
  bid_size: figure,
  close: figure,
  high: figure,
  last: figure,
  low: figure,
  net_change: figure,
  net_change_pct: figure,
  open: figure,
  previous_close: figure,
  volume: figure,
  side: oneOf(['Put', 'Call', 'Both']),
  legs: Type.Array(
    Type.Object(
      {
        sym: symbol,
        strike_price: decimal,
        expiration: { ...timestamp, description: 'Midnight UTC of the expiration date.' },
        option_type: oneOf(['Put', 'Call']),
        asset_type: Type.String({ examples: ['OPT'] })
      },
      { additionalProperties: false }
    )
  ),
  sub_id: subId
})

/** Everything the server sends besides updates. */
export type MarketMessage =
  | Static<typeof marketAuthSuccess>
  | Static<typeof marketSubscribed>
  | Static<typeof marketSubscriptions>
  | Static<typeof marketUnsubscribed>
  | Static<typeof marketError>
