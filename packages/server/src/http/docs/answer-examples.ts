// One example response for each operation. Together with the streams' examples they show one session.
import { balanceUpdate, orderUpdate, positionsUpdate } from './stream-examples.ts'

const filled = orderUpdate.data
const { connection_id, account_id, account_number, user_id, order_id } = filled
const owner = { connection_id, account_id, account_number, user_id }
const NOW = '2026-11-20T14:30:00.184321Z'
const CONNECTED = '2026-11-20T14:02:11.503000Z'

/** A limit order that waits for its price. */
const working = {
  ...filled,
  order_id: '01a1fc41-07d8-7000-8a63-5c2f1e0d9b72',
  cl_order_id: 'rebalance-2026-11-20-1',
  normalized_status: 'working',
  broker_status: 'open',
  filled_qty: '0',
  average_fill_price: null,
  order_type: 'LMT',
  broker_order_type: 'limit',
  order_limit_price: '187.50',
  exec_dest: null,
  last_exec_time: null,
  fills: [],
  revision: 2
}

const connection = {
  connection_id,
  user_id,
  broker: 'SANDBOX',
  accounts: [{ account_id, account_number }],
  connection_type: 'trade',
  status: 'ACTIVE',
  broken_code: null,
  broken_reason: null,
  environment: 'sandbox',
  health: 'live',
  health_since: CONNECTED,
  health_reason: null,
  records_left_out: 0,
  records_left_out_at: null,
  created_at: CONNECTED,
  updated_at: CONNECTED
}

const broker = {
  broker: 'TRADIER',
  name: 'Tradier',
  logo_color: '#7c3aed',
  login: 'oauth',
  environment: 'live',
  instruments: ['STK'],
  order_types: { STK: ['MKT', 'LMT'] },
  times_in_force: { STK: ['DAY', 'GTC'] },
  sides: { STK: ['BUY', 'SELL'] },
  combinations: [
    {
      instrument: 'STK',
      order_type: 'LMT',
      order_tif: 'GTC',
      hours: 'regular',
      placed: 'any_time',
      sides: ['BUY', 'SELL'],
      sizes: ['whole']
    }
  ],
  sessions: ['BrokerDefault', 'USEqCore'],
  market_data: {
    channels: ['bars', 'trades', 'quotes', 'options_chain'],
    intervals: ['1m', '1d'],
    backfill_max: 10_000,
    backfill: [
      { interval: '1m', bars_max: 10_000, days_max: 10 },
      { interval: '1d', bars_max: 10_000, days_max: null }
    ],
    daily_bars: 'core',
    daily_sessions: [],
    live_volume: 'priced',
    symbol_search: true
  },
  notional: false,
  fractional: false,
  replace: 'native',
  replace_fields: { STK: ['order_limit_price', 'stop_price'] },
  account_stream: true,
  transactions: true,
  order_preview: true
}

const market = { symbol: 'SPY', as_of: NOW }

const page = (...data: readonly object[]) => ({ data, next_cursor: null, prev_cursor: null })

const TRADING = {
  placeOrder: working,
  previewOrder: {
    account_id,
    broker: 'TRADIER',
    outcome: 'estimated',
    broker_message: null,
    reject_code: null,
    warnings: [],
    source: 'broker',
    currency_code: 'USD',
    estimated_price: null,
    estimated_cost: '1875.00',
    estimated_total: '1875.35',
    commission: '0.35',
    fees: '0.00',
    initial_margin: null,
    margin_change: '937.50',
    buying_power_change: null,
    previewed_at: NOW
  },
  listOrders: page(working, filled),
  readOrder: filled,
  readOrderOfAccount: filled,
  modifyOrder: {
    ...working,
    order_id: '01a1fc41-9b10-7000-93d4-0a7b6c5d4e83',
    cl_order_id: 'rebalance-2026-11-20-1b',
    order_limit_price: '187.75',
    replaces_order_id: working.order_id,
    previously_filled_qty: '0',
    revision: 1
  },
  cancelOrder: { ...working, normalized_status: 'pending_cancel', revision: 3 },
  cancelOrders: {
    results: [
      {
        account_id,
        order_id: working.order_id,
        cl_order_id: working.cl_order_id,
        result: 'cancelled',
        normalized_status: 'cancelled',
        code: null,
        message: null
      }
    ],
    remaining: 0
  }
}

const MARKET = {
  searchSymbols: { symbols: [{ symbol: 'AAPL', instrument: 'STK', name: 'Apple Inc.', exchange: 'NASDAQ' }] },
  readExpirations: { ...market, expirations: ['2028-01-21', '2028-06-16'] },
  readQuote: { ...market, bid_price: '668.41', bid_size: '300', ask_price: '668.43', ask_size: '500', quoted_at: NOW },
  readChain: {
    ...market,
    expiration: '2028-01-21',
    contracts: [
      {
        symbol: 'SPY280121C00660000',
        option_type: 'Call',
        strike_price: '660',
        ...{ bid: '18.02', bid_size: '40', ask: '18.11', ask_size: '35', mid: '18.065', last: '18.05', volume: '412' },
        ...{ open: '17.6', high: '18.3', low: '17.42', close: null, previous_close: '17.35', net_change: '0.7', net_change_pct: '4.03' },
        ...{ delta: '0.61', gamma: '0.011', theta: '-0.21', rho: '0.27', vega: '0.68', iv: '0.162' }
      }
    ]
  },
  readBars: {
    ...market,
    interval: '1h',
    bars: [
      {
        start: '2026-11-20T14:30:00.000000Z',
        ...{ open: '667.9', high: '668.8', low: '667.12', close: '668.42', volume: '5120344' },
        closed: true
      }
    ],
    next_start: null
  }
}

const endpoint_id = '01a1fc40-a0c8-7000-8c5e-4a1b7c0d9e21'
const endpoint = {
  ...{ endpoint_id, url: 'https://hooks.example.com/trunkline', description: 'production', topics: ['orders'], order_statuses: null },
  ...{ created_at: '2026-11-20T14:00:00.000000Z', disabled_at: null, disabled_reason: null, last_success_at: NOW, failing_since: null }
}
const public_keys = ['whpk_6vVYr0aQ3fWmXnS2o9w1Tz5cQkP8sJ7uGdB4eHxLyMI=']
const delivery = {
  ...{ delivery_id: '01a1fc40-be10-7000-a1b2-c3d4e5f60718', message_id: 'msg_ZpQ0b3mYx2cS9tV8wK1LrN5uE7aH4dJ6', reason: 'event', user_id },
  ...{ from_seq: 41, to_seq: 43, updates: 3, attempt: 1, started_at: NOW, took_ms: 38, status: 204, failure: null, retry_at: null }
}
const WEBHOOKS: Readonly<Record<string, unknown>> = {
  createWebhookEndpoint: { ...endpoint, last_success_at: null, public_keys, secret: 'whsec_…' },
  listWebhookEndpoints: [endpoint],
  readWebhookEndpoint: { ...endpoint, public_keys, lag: { users: 0, updates: 0, is_lower_bound: false, oldest_at: null } },
  changeWebhookEndpoint: {
    ...endpoint,
    public_keys,
    lag: { users: 2, updates: 57, is_lower_bound: false, oldest_at: '2026-11-20T14:12:31.201000Z' }
  },
  deleteWebhookEndpoint: { endpoint_id },
  rotateWebhookKeys: { ...endpoint, public_keys: ['whpk_Yh3dQ0c7rWbN1sKfU9tZ4xVgM2pLjE8oAiC5nHyT6lw=', ...public_keys], secret: 'whsec_…' },
  testWebhookEndpoint: {
    ...{ ...delivery, message_id: 'msg_test_01a1fc40-be11-7000-9d8e-7f6a5b4c3d2e', reason: 'test', user_id: null },
    ...{ from_seq: null, to_seq: null, updates: 0, status: 500, failure: 'status', is_kept: true }
  },
  listWebhookDeliveries: page(delivery),
  readWebhookDelivery: {
    ...delivery,
    request_headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'user-agent', value: 'Trunkline-Webhooks' },
      { name: 'webhook-id', value: delivery.message_id },
      { name: 'webhook-timestamp', value: '1795271400' },
      { name: 'webhook-signature', value: 'v1,… v1a,…' }
    ],
    request_bytes: 2_904,
    request_body: '{"type":"events","data":[…]}',
    answer_body: '',
    answer_is_cut: false
  },
  replayWebhooks: { endpoint_id, from_seq: 1, to_seq: 100 }
}

/** By operation id. A test validates each against its schema. */
export const ANSWERS: Readonly<Record<string, unknown>> = {
  createUser: { user_id, 'user-secret': 'us_…' },
  listUsers: page({ user_id, created_at: '2026-11-20T14:00:00.000000Z' }),
  deleteUser: { user_id },
  rotateUserSecret: { user_id, 'user-secret': 'us_…' },
  createConnection: { authorization_url: 'https://trunkline.example.com/connect/example', expires_at: '2026-11-20T14:32:11.503000Z' },
  claimConnection: connection,
  listConnections: [connection],
  listPlatformConnections: page(connection),
  deleteConnection: { connection_id },
  issueMarketDataToken: { access_token: 'mdt_…', expires_at: '2026-11-21T14:30:00.184321Z', expires_in: 86_400 },
  listAccounts: [
    {
      account_id,
      account_number,
      institution_name: 'Trunkline Sandbox',
      broker: 'SANDBOX',
      connection_id,
      name: 'Margin',
      account_type: 'margin',
      broker_account_type: 'margin',
      currency_code: 'USD'
    }
  ],
  listBalances: [balanceUpdate.data],
  listPositions: positionsUpdate.data,
  listTransactions: [
    {
      transaction_id: '01a1fc40-bd02-7000-8f15-6e4d3c2b1a90',
      ...owner,
      type: 'BUY',
      broker_type: 'buy',
      symbol: 'AAPL',
      instrument: 'STK',
      quantity: '10',
      price: '227.81',
      amount: '-2278.10',
      fees: '0.00',
      currency_code: 'USD',
      date: '2026-11-20',
      settlement_date: '2026-11-23',
      order_id,
      description: null,
      system_time: NOW
    }
  ],
  ...TRADING,
  ...MARKET,
  listEvents: { data: [orderUpdate, positionsUpdate, balanceUpdate], next_after: null, oldest_seq: 1, last_seq: 43 },
  ...WEBHOOKS,
  listBrokers: [broker]
}
