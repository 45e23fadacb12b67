// Nothing that a client sends makes the sandbox fail: it is refused with Alpaca's errors, or done.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from '@msgpack/msgpack'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { Client, openBrokerage, StreamClient } from './support.ts'

/** A sandbox that must not report an internal error, whatever `attack` does to it. */
async function withoutErrors(attack: (client: Client, brokerage: Brokerage) => Promise<void>): Promise<void> {
  const errors: unknown[] = []
  await using brokerage = await openBrokerage({}, { onError: error => errors.push(error) })
  await attack(await Client.of(brokerage), brokerage)
  assert.deepEqual(errors, [])
}

const TEXTS = 'SPY BTC/USD AAPL261218C00250000 buy sell market limit stop day gtc ioc mleg simple null * ../.. %00 2026-01-01 asc'
const NUMBERS = '1 0 -1 0.000000001 1e5 99999999999999999999 500.01'
const word = fc.oneof(fc.constantFrom('', ' ', ...`${TEXTS} ${NUMBERS}`.split(' ')), fc.string({ maxLength: 20 }))
const value = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.boolean(), fc.constant(null))
const leg = fc.dictionary(fc.constantFrom('symbol', 'ratio_qty', 'side', 'position_intent'), value)
const FIELDS =
  'symbol qty notional side type time_in_force limit_price stop_price extended_hours client_order_id order_class position_intent'
const ticket = fc.record(
  { ...Object.fromEntries(FIELDS.split(' ').map(name => [name, value])), legs: fc.oneof(value, fc.array(leg, { maxLength: 6 })) },
  { requiredKeys: [] }
)

function isAnswered({ status, text }: { readonly status: number; readonly text: string }, what: unknown): void {
  assert.ok(status < 500, `${status} ${text} to ${JSON.stringify(what)}`)
  if (status >= 400) assert.equal(typeof JSON.parse(text).message, 'string')
}

test('no body of an order is too strange', async () => {
  await withoutErrors(client =>
    fc.assert(
      fc.asyncProperty(fc.oneof(ticket, fc.jsonValue()), async body => {
        isAnswered(await client.call('POST', '/v2/orders', body === null ? 'null' : body), body)
      }),
      { numRuns: ofSearch(400, 100) }
    )
  )
})

test('no change of an order is too strange', async () => {
  await withoutErrors(async client => {
    const { id } = await client.placed()
    await fc.assert(
      fc.asyncProperty(fc.oneof(ticket, fc.jsonValue()), fc.oneof(fc.constant(id), word), async (body, path) => {
        isAnswered(await client.call('PATCH', `/v2/orders/${encodeURIComponent(path)}`, JSON.stringify(body)), { body, path })
      }),
      { numRuns: ofSearch(200, 50) }
    )
  })
})

const PATHS = [
  '/api/v2/orders',
  '/api/v2/orders:by_client_order_id',
  '/api/v2/account/activities',
  '/api/v2/assets',
  '/api/v2/options/contracts',
  '/data/v2/stocks/bars',
  '/data/v2/stocks/trades',
  '/data/v1beta3/crypto/us/bars',
  '/data/v1beta3/crypto/us/latest/quotes',
  '/data/v1beta1/options/snapshots/SPY'
]
const PARAMETERS = [
  ...'status limit after until direction symbols side page_token page_size activity_types date start end timeframe sort'.split(' '),
  ...'underlying_symbols expiration_date_lte strike_price_gte type client_order_id asset_class'.split(' ')
]

test('no query is too strange', async () => {
  await withoutErrors((client, brokerage) =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...PATHS),
        fc.array(fc.tuple(fc.constantFrom(...PARAMETERS), word), { maxLength: 5 }),
        async (path, query) => {
          const url = `${brokerage.url}/alpaca${path}?${new URLSearchParams(query)}`
          const response = await fetch(url, { headers: client.headers })
          isAnswered({ status: response.status, text: await response.text() }, { path, query })
        }
      ),
      { numRuns: ofSearch(300, 75) }
    )
  )
})

test('no message to a stream is too strange', async () => {
  await withoutErrors(async (client, brokerage) => {
    const orders = await StreamClient.ofOrders(client)
    const shares = await StreamClient.ofData(client, '/v2/iex')
    const options = await StreamClient.ofData(client, '/v1beta1/opra', { packs: true })
    const action = fc.constantFrom('auth', 'authenticate', 'listen', 'subscribe', 'unsubscribe', 'dance')
    const message = fc.oneof(
      fc.record(
        { action, data: value, trades: value, quotes: value, bars: value, key: value, streams: value },
        { requiredKeys: ['action'] }
      ),
      fc.jsonValue()
    )
    fc.assert(
      fc.property(message, item => {
        const text = JSON.stringify(item)
        for (const stream of [orders, shares, options]) stream.send(text)
        options.sendBytes(encode(JSON.parse(text)))
      }),
      { numRuns: ofSearch(300, 75) }
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), bytes => {
        for (const stream of [orders, shares, options]) stream.sendBytes(Buffer.from(bytes))
      }),
      { numRuns: ofSearch(300, 75) }
    )
    for (const stream of [orders, shares, options]) {
      stream.ping()
      await stream.until((_messages, { pongs }) => pongs === 1)
      assert.equal(stream.closed, undefined)
      stream.close()
    }
    assert.equal((await fetch(`${brokerage.url}/alpaca/api/v2/account`, { headers: client.headers })).status, 200)
  })
})
