// One example of each message of the broker stream. Together they show one session.
import type { Static } from 'typebox'
import type * as wire from '../../wire/stream.ts'
import type * as updates from '../../wire/update.ts'

const SESSION = '01a1fc40-b300-7000-8b1c-6f2d3f9f5a01'
const ACCOUNT = '01a1fc40-b2f4-7000-a2c1-0d5e7b9c1a11'
const CONNECTION = '01a1fc40-b2f0-7000-9d3e-4a6b8c0d2e22'
const ORDER = '01a1fc40-bac8-7000-9fad-169d6cee0b61'
const PLACED = '2026-11-20T14:30:00.120000Z'
const FILLED = '2026-11-20T14:30:00.184321Z'
const owner = { connection_id: CONNECTION, account_id: ACCOUNT, account_number: 'SB00131894', user_id: 'ada' }

export const welcome: Static<typeof wire.welcome> = {
  type: 'welcome',
  session_id: SESSION,
  message: 'Send authenticate within 30 seconds.'
}
export const authenticate: Static<typeof wire.authenticate> = {
  action: 'authenticate',
  client_id: 'pk_UhN4Yzbxc_k6evzSqyVsTW',
  client_secret: 'sk_…',
  version: 'v1.0',
  extensions: ['stream_status']
}
export const authSuccess: Static<typeof wire.authSuccess> = { type: 'auth_success', message: 'Authenticated.', version: 'v1.0' }
export const authError: Static<typeof wire.authError> = {
  type: 'auth_error',
  message: 'The client_id or the client_secret is wrong.'
}
export const subscribe: Static<typeof wire.subscribe> = { action: 'subscribe', topics: ['all'] }
export const subscribed: Static<typeof wire.subscribed> = {
  type: 'subscribed',
  subscription_id: '01a1fc40-b5d2-7000-b7aa-51c3e8d90f33',
  topics: ['all']
}
export const subscribeUser: Static<typeof wire.subscribeUser> = { action: 'subscribe_user', user_id: 'ada', after: 40 }
export const userSubscribed: Static<typeof wire.userSubscribed> = { type: 'user_subscribed', user_id: 'ada', seq: 40 }
export const orderUpdate: Static<typeof updates.orderUpdate> = {
  type: 'orders',
  seq: 41,
  event_id: '01a1fc40-bb08-7000-8c2d-7e9f0a1b3c44',
  user_id: 'ada',
  data: {
    order_id: ORDER,
    cl_order_id: 'my-first-order',
    ...owner,
    platform: 'SANDBOX',
    broker: 'SANDBOX',
    normalized_status: 'filled',
    broker_status: 'done',
    broker_message: null,
    reject_code: null,
    submission: { state: 'acknowledged', since: PLACED, attempts: 1, method: 'reply' },
    side: 'BUY',
    order_qty: '10',
    order_notional: null,
    filled_qty: '10',
    average_fill_price: '227.81',
    order_type: 'MKT',
    broker_order_type: 'market',
    order_tif: 'DAY',
    order_limit_price: null,
    stop_price: null,
    symbol: 'AAPL',
    instrument: 'STK',
    exec_dest: 'STREET',
    trading_day: '2026-11-20',
    entry_time: PLACED,
    last_exec_time: FILLED,
    last_modified_time: FILLED,
    system_time: FILLED,
    fills: [{ time: FILLED, quantity: '10', price: '227.81', fill_id: 'exe-75849e7a-1', exec_dest: 'STREET' }],
    legs: null,
    replaces_order_id: null,
    replaced_by_order_id: null,
    previously_filled_qty: null,
    revision: 3
  }
}
export const positionsUpdate: Static<typeof updates.positionsUpdate> = {
  type: 'positions',
  seq: 42,
  event_id: '01a1fc40-bb19-7000-9e4f-8a0b1c2d3e55',
  user_id: 'ada',
  data: [
    {
      ...owner,
      symbol: 'AAPL',
      instrument: 'STK',
      quantity: '10',
      last_price: '227.81',
      position_average_price: '227.81',
      unrealized_pl: '0.00',
      realized_pl: '0.00',
      daily_pl: '0.00',
      total_pl: '0.00',
      broker_position_id: null,
      system_time: FILLED
    }
  ]
}
export const balanceUpdate: Static<typeof updates.balanceUpdate> = {
  type: 'balances',
  seq: 43,
  event_id: '01a1fc40-bb19-7001-8a5b-9c1d2e3f4a66',
  user_id: 'ada',
  data: {
    ...owner,
    currency_code: 'USD',
    cash: '97721.90',
    buying_power: '197721.90',
    initial_margin: '1139.05',
    maintenance_margin: '569.525',
    reg_t_buying_power: '197721.90',
    equity: '100000.00',
    market_value: '2278.10',
    system_time: FILLED
  }
}
export const caughtUp: Static<typeof wire.caughtUp> = { type: 'caught_up', user_id: 'ada', seq: 43 }
export const subscriptionFailed: Static<typeof wire.subscriptionFailed> = {
  type: 'subscription_failed',
  message: 'There is no user with this user_id on your platform.',
  user_id: 'eve'
}
export const unsubscribeUser: Static<typeof wire.unsubscribeUser> = { action: 'unsubscribe_user', user_id: 'ada' }
export const userUnsubscribed: Static<typeof wire.userUnsubscribed> = { type: 'user_unsubscribed', user_id: 'ada' }
export const ping: Static<typeof wire.ping> = { action: 'ping', seq: 7 }
export const pong: Static<typeof wire.pong> = { type: 'pong', seq: 7 }
export const streamError: Static<typeof wire.streamError> = {
  type: 'error',
  message: 'A message must be a JSON object with an action, as text.'
}
export const streamStatus: Static<typeof wire.streamStatus> = {
  type: 'stream_status',
  user_id: 'ada',
  connection_id: CONNECTION,
  status: 'ACTIVE',
  health: 'live',
  since: PLACED,
  reason: null
}
