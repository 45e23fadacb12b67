import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import { control } from '../../brokerage/support.ts'
import { Client, openBrokerage } from './support.ts'

const OPTION_SIDES = ['buy_to_open', 'buy_to_open', 'sell_to_open', 'buy_to_close', 'sell_to_close']
const CONTRACT = 'SPY261218C00500000'
const price = fc.integer({ min: 1, max: 100_000 }).map(cents => (cents / 100).toFixed(2))
const quantity = fc.integer({ min: 1, max: 8 }).map(String)
const common = { duration: fc.constantFrom('day', 'day', 'day', 'gtc', 'pre'), quantity, price, stop: price }
const equity = fc.record({
  ...common,
  class: fc.constant('equity'),
  symbol: fc.constantFrom('SPY', 'SPY', 'BRK/B', 'BTC/USD', 'NOPE'),
  side: fc.constantFrom('buy', 'buy', 'sell', 'sell_short', 'buy_to_cover'),
  type: fc.constantFrom('market', 'limit', 'stop', 'stop_limit')
})
const option = fc.record({
  ...common,
  class: fc.constant('option'),
  option_symbol: fc.constant(CONTRACT),
  side: fc.constantFrom(...OPTION_SIDES),
  type: fc.constantFrom('market', 'limit')
})
const multileg = fc.record({
  ...common,
  class: fc.constant('multileg'),
  symbol: fc.constant('SPY'),
  type: fc.constantFrom('market', 'debit', 'credit', 'even'),
  'side[0]': fc.constantFrom(...OPTION_SIDES),
  'quantity[0]': quantity,
  'option_symbol[0]': fc.constantFrom(CONTRACT, 'SPY261218P00500000'),
  'side[1]': fc.constantFrom(...OPTION_SIDES),
  'quantity[1]': quantity,
  'option_symbol[1]': fc.constantFrom('SPY261218C00510000', 'NOPE261218C00510000')
})
const NAMES = [
  'class',
  'symbol',
  'option_symbol',
  'side',
  'quantity',
  'type',
  'duration',
  'price',
  'stop',
  'tag',
  'preview',
  'side[0]',
  'quantity[1]'
]
const number = fc.oneof(
  fc.integer({ min: -3, max: 2_000 }).map(String),
  fc.integer({ min: 40_000, max: 60_000 }).map(cents => (cents / 100).toFixed(2)),
  fc.string({ maxLength: 6 })
)
const strange = fc.oneof(number, fc.string({ maxLength: 300 }), fc.constantFrom('true', 'null', '1e3', '0x10', '٣', '-0', '1.'))
const form = fc
  .tuple(fc.oneof(equity, equity, option, multileg), fc.dictionary(fc.constantFrom(...NAMES), strange, { maxKeys: 1 }))
  .map(([one, wrong]) => ({ ...one, ...wrong }))

const FORMS = ofSearch(300, 150)

test('no order form causes an internal error', async () => {
  const errors: unknown[] = []
  await using brokerage = await openBrokerage({ deps: { onError: error => errors.push(error) } })
  const client = await Client.of(brokerage)
  const kinds = new Set<string>()
  await fc.assert(
    fc.asyncProperty(form, async fields => {
      const { status, body, text } = await client.call('POST', `/accounts/${client.margin}/orders`, fields)
      const kind = status === 400 ? 'malformed' : body?.order === undefined ? 'refused' : 'taken'
      kinds.add(kind)
      assert.equal(status, kind === 'malformed' ? 400 : 200, text)
      if (kind === 'refused') assert.ok([body.errors.error].flat().every(error => typeof error === 'string'))
      if (kind === 'malformed') assert.equal(body, undefined, text)
    }),
    { numRuns: FORMS }
  )
  assert.deepEqual(errors, [])
  assert.deepEqual(kinds, new Set(['malformed', 'refused', 'taken']))
  const { operations } = await control(brokerage, 'GET', '/counters')
  // A form with `preview` asks what an order would come to.
  assert.equal(operations['orders.submit'].requests + (operations['orders.preview']?.requests ?? 0), FORMS)
})

test('after any change form the order is unchanged or has the new prices', async () => {
  const errors: unknown[] = []
  await using brokerage = await openBrokerage({ deps: { onError: error => errors.push(error) } })
  const client = await Client.of(brokerage)
  const id = await client.placed(client.order())
  const change = fc.record(
    { type: fc.constantFrom('limit', 'market'), duration: fc.constantFrom('day', 'gtc'), price: number, stop: number, quantity: strange },
    { requiredKeys: [] }
  )
  await fc.assert(
    fc.asyncProperty(change, async fields => {
      const before = await client.find(id)
      const { status, body, text } = await client.call('PUT', `/accounts/${client.margin}/orders/${id}`, fields)
      assert.ok(status === 400 || status === 200, text)
      const after = await client.find(id)
      if (status === 400 || body.order === undefined) assert.deepEqual(after, before)
      else if (fields.price !== undefined) assert.equal(after.price, Number(fields.price))
    }),
    { numRuns: ofSearch(200, 50) }
  )
  assert.deepEqual(errors, [])
})
