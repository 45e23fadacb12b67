// One example of each message of the market data stream. Together they show one session.
import type { Static } from 'typebox'
import type * as wire from '../../wire/market.ts'

const SESSION = '01a1fc41-0c3e-7000-8a52-9b4e7d1f6a02'
const BROKER = 'SANDBOX'
const MINUTE = '1795271400000000000'
const NOW = '1795271412345678900'

export const authenticate: Static<typeof wire.marketAuthenticate> = {
  action: 'authenticate',
  access_token: 'mdt_…',
  request_id: 'a1',
  version: 'v1.0'
}
export const authSuccess: Static<typeof wire.marketAuthSuccess> = {
  type: 'auth_success',
  message: 'Authenticated.',
  request_id: 'a1',
  session_id: SESSION,
  version: 'v1.0'
}
export const subscribe: Static<typeof wire.marketSubscribe> = {
  action: 'subscribe',
  channel: 'bars',
  symbol: 'AAPL',
  interval: '1m',
  session: 'USEqCore',
  backfill_nbars: 1,
  request_id: 's1'
}
export const subscribed: Static<typeof wire.marketSubscribed> = {
  type: 'subscription_success',
  message: 'Subscribed.',
  broker: BROKER,
  channel: 'bars',
  symbol: 'AAPL',
  interval: '1m',
  session: 'USEqCore',
  request_id: 's1',
  sub_id: '1'
}
export const bar: Static<typeof wire.barUpdate> = {
  o: '227.81',
  h: '227.9',
  l: '227.74',
  c: '227.86',
  v: '18250',
  ts: MINUTE,
  st: 'o',
  sub_id: '1'
}
export const trade: Static<typeof wire.tradeUpdate> = { p: '227.86', s: '100', n: 'XNAS', ts: NOW, sub_id: '2' }
export const quote: Static<typeof wire.quoteUpdate> = { bp: '227.85', bs: '400', ap: '227.86', as: '300', ts: NOW, sub_id: '3' }
export const depth: Static<typeof wire.depthUpdate> = {
  type: 'depth_update',
  b: [
    ['227.85', '400', '3', 'XNAS', NOW],
    ['227.84', '1100', '7', 'ARCA', NOW]
  ],
  a: [
    ['227.86', '300', '2', 'XNAS', NOW],
    ['227.87', '900', '5', 'ARCA', NOW]
  ],
  sub_id: '4'
}
export const contract: Static<typeof wire.chainUpdate> = {
  delta: '0.5312',
  gamma: '0.0281',
  theta: '-0.0914',
  rho: '0.0831',
  vega: '0.2411',
  iv: '0.2514',
  ask: '6.45',
  bid: '6.35',
  mid: '6.4',
  ask_size: '12',
  bid_size: '20',
  close: null,
  high: '6.8',
  last: '6.4',
  low: '6.1',
  net_change: '0.15',
  net_change_pct: '2.4',
  open: '6.3',
  previous_close: '6.25',
  volume: '1840',
  side: 'Call',
  legs: [
    {
      sym: 'AAPL261218C00227500',
      strike_price: '227.5',
      expiration: '2026-12-18T00:00:00.000000Z',
      option_type: 'Call',
      asset_type: 'OPT'
    }
  ],
  sub_id: '5'
}
export const list: Static<typeof wire.marketList> = { action: 'list_subscriptions', request_id: 'l1' }
export const subscriptions: Static<typeof wire.marketSubscriptions> = {
  type: 'subscriptions_list',
  subscriptions: [{ broker: BROKER, channel: 'bars', symbol: 'AAPL', interval: '1m', session: 'USEqCore', sub_id: '1' }],
  request_id: 'l1',
  version: 'v1.0'
}
export const unsubscribe: Static<typeof wire.marketUnsubscribe> = { action: 'unsubscribe', sub_id: '1', request_id: 'u1' }
export const unsubscribed: Static<typeof wire.marketUnsubscribed> = {
  type: 'unsubscription_success',
  message: 'Unsubscribed.',
  broker: BROKER,
  channel: 'bars',
  symbol: 'AAPL',
  interval: '1m',
  session: 'USEqCore',
  request_id: 'u1',
  sub_id: '1'
}
export const snapshot: Static<typeof wire.marketSnapshot> = {
  action: 'snapshot',
  request_id: 'h1',
  symbol: 'AAPL',
  start_time: '2026-11-20T14:30:00Z',
  end_time: '2026-11-20T14:31:00Z',
  data_type: 'bars',
  interval: '1m'
}
export const snapshotResponse: Static<typeof wire.marketSnapshotResponse> = {
  type: 'snapshot_response',
  request_id: 'h1',
  symbol: 'AAPL',
  data_type: 'bars',
  interval: '1m',
  start_time: '2026-11-20T14:30:00.000000Z',
  end_time: '2026-11-20T14:31:00.000000Z',
  data: [
    {
      o: '226.9',
      h: '227.15',
      l: '226.85',
      c: '227.1',
      v: '102400',
      ts: '1795185000000000000',
      st: 'c',
      ev: 'b',
      sym: 'AAPL'
    }
  ]
}
export const error: Static<typeof wire.marketError> = {
  type: 'error',
  error_code: 'unsupported_interval',
  request_id: 's2',
  message: 'interval must be a number and one of m, h, d, w, M, y, as in 5m; was "5x".'
}
