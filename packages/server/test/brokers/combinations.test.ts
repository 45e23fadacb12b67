// The table of combinations is what validation goes by: each that is listed passes, and each other is refused with the part that does not
// hold.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADAPTERS } from '@trunkline/brokers/registry'
import { checkTicket, type TicketRequest } from '@trunkline/core/app/orders/ticket-check'
import { type Combination, combinationsOf, type OrderForm } from '@trunkline/core/domain/combinations'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import { INSTRUMENTS, type Instrument, ORDER_TYPES, SIDES, SIZES, TIMES_IN_FORCE } from '@trunkline/core/domain/vocabulary'
import { presentBroker } from '../../src/wire/broker.ts'

const SYMBOLS: { readonly [instrument in Instrument]: string | null } = {
  STK: 'SPY',
  OPT: 'SPY261218C00600000',
  MLEG_OPT: null,
  FUT: 'ESZ26',
  CRYPTO: 'BTC/USD'
}
const FIELDS = { instrument: 'instrument', type: 'order_type', tif: 'order_tif', side: 'side', size: 'order_qty' } as const
const PRICE = parseDecimal('10', 'price')

/**
 * Every form the capabilities allow, but sides that no instrument of the kind has, and amounts that no broker takes: these are not the
 * broker's matter.
 */
function* forms(): Generator<OrderForm> {
  for (const instrument of INSTRUMENTS)
    for (const type of ORDER_TYPES)
      for (const tif of TIMES_IN_FORCE)
        for (const side of SIDES.filter(one => one.includes('_TO_') === (instrument === 'OPT')))
          for (const size of SIZES) {
            const isAmount = size === 'notional'
            if (isAmount && (type !== 'MKT' || tif === 'GTC' || tif === 'GTC+' || instrument === 'MLEG_OPT')) continue
            yield { instrument, type, tif, side, size }
          }
}

function requestOf({ instrument, type, tif, side, size }: OrderForm): TicketRequest {
  const ratio = parseDecimal('1', 'ratio')
  const leg = { symbol: 'SPY261218C00600000', side: 'BUY_TO_OPEN', ratio } as const
  return {
    ...{ instrument, type, tif, side, symbol: SYMBOLS[instrument] },
    quantity: size === 'notional' ? null : parseDecimal(size === 'whole' ? '2.0' : '0.5', 'quantity'),
    notional: size === 'notional' ? parseDecimal('250', 'notional') : null,
    limitPrice: type === 'LMT' || type === 'STPLMT' ? PRICE : null,
    stopPrice: type === 'STP' || type === 'STPLMT' ? PRICE : null,
    legs: instrument === 'MLEG_OPT' ? [leg, { ...leg, symbol: 'SPY261218C00610000' }] : null
  }
}

/** The part that keeps a form from being one of the combinations, found in the table alone. */
function partOf(form: OrderForm, all: readonly Combination[]): keyof OrderForm | null {
  const instruments = all.filter(each => each.instrument === form.instrument)
  const types = instruments.filter(each => each.type === form.type)
  const tifs = types.filter(each => each.tif === form.tif)
  if (instruments.length === 0) return 'instrument'
  if (types.length === 0) return 'type'
  if (tifs.length === 0) return 'tif'
  if (!tifs.some(each => each.sides.includes(form.side))) return 'side'
  return tifs.some(each => each.sizes.includes(form.size)) ? null : 'size'
}

for (const { capabilities } of ADAPTERS)
  test(`${capabilities.id}: an order is taken if it is one of the combinations, and else refused with the part that does not hold`, () => {
    const all = combinationsOf(capabilities)
    assert.equal(new Set(all.map(({ instrument, type, tif }) => `${instrument} ${type} ${tif}`)).size, all.length, 'each once')
    for (const form of forms()) {
      const part = partOf(form, all)
      const check = () => checkTicket(requestOf(form), capabilities)
      if (part === null) check()
      else
        assert.throws(check, (error: unknown) => {
          assert.ok(error instanceof ServiceError)
          const field = part === 'size' && form.size === 'notional' ? 'order_notional' : FIELDS[part]
          assert.equal(error.code, 'order_not_supported', `${JSON.stringify(form)}: ${error.message}`)
          assert.deepEqual(
            error.details.map(({ path }) => path),
            [field],
            JSON.stringify(form)
          )
          return true
        })
    }
  })

test('what brokers are known to turn down is not listed', () => {
  const listed = (id: string, ...fields: readonly string[]) => {
    const capabilities = ADAPTERS.find(adapter => adapter.capabilities.id === id)?.capabilities
    assert.ok(capabilities !== undefined)
    return combinationsOf(capabilities).find(({ instrument, type, tif }) => [instrument, type, tif].join() === fields.join())
  }
  assert.equal(listed('TRADIER', 'STK', 'MKT', 'GTC'), undefined)
  assert.equal(listed('TRADIER', 'STK', 'STP', 'DAY+'), undefined)
  assert.equal(listed('ALPACA', 'STK', 'MKT', 'DAY+'), undefined)
  assert.equal(listed('TRADESTATION', 'STK', 'STP', 'IOC'), undefined)
  assert.deepEqual(listed('ALPACA', 'STK', 'MKT', 'GTC')?.sizes, ['whole'])
  assert.equal(listed('TRADIER', 'STK', 'LMT', 'DAY+')?.hours, 'extended')
  assert.equal(listed('TRADIER', 'STK', 'LMT', 'DAY+')?.placed, 'in_session')
  assert.equal(listed('SANDBOX', 'STK', 'LMT', 'DAY+')?.hours, 'regular_and_extended')
})

test('ALPACA takes parts of a share for the day in each type, limits also in the extended hours, and amounts at the market', () => {
  const capabilities = ADAPTERS.find(adapter => adapter.capabilities.id === 'ALPACA')?.capabilities
  assert.ok(capabilities !== undefined)
  const rows = combinationsOf(capabilities).filter(({ instrument }) => instrument === 'STK')
  const offering = (size: 'fraction' | 'notional') =>
    rows.filter(({ sizes }) => sizes.includes(size)).map(({ type, tif }) => `${type} ${tif}`)
  assert.deepEqual(offering('fraction'), ['MKT DAY', 'LMT DAY', 'LMT DAY+', 'STP DAY', 'STPLMT DAY'])
  // Alpaca takes limits and stops by amount, too; the API has amounts for market orders alone.
  assert.deepEqual(offering('notional'), ['MKT DAY'])
})

test('how far back bars go depends on broker and interval, from what the market side goes by', () => {
  const backfills = ADAPTERS.map(({ capabilities }) => {
    const presented = presentBroker(Object({ capabilities, environment: 'sandbox', login: { kind: 'oauth' } }))
    return [capabilities.id, presented.market_data.backfill] as const
  })
  for (const [id, backfill] of backfills) assert.ok(backfill.length > 0, id)
  const tradier = new Map(backfills).get(parseBrokerId('TRADIER'))
  assert.deepEqual(tradier?.slice(0, 2), [
    { interval: '1m', bars_max: 10_000, days_max: 10 },
    { interval: '5m', bars_max: 5_184, days_max: 18 }
  ])
  assert.deepEqual(tradier?.at(-1), { interval: '1d', bars_max: 10_000, days_max: null })
})

test('one contract in two legs is refused for every broker, with one code', () => {
  const form = { instrument: 'MLEG_OPT', type: 'LMT', tif: 'DAY', side: 'BUY', size: 'whole' } as const
  const request = requestOf(form)
  for (const { capabilities } of ADAPTERS) {
    const again = { ...request, legs: (request.legs ?? []).map(leg => ({ ...leg, symbol: 'SPY261218C00600000' })) }
    assert.throws(
      () => checkTicket(again, capabilities),
      cause => cause instanceof ServiceError && cause.code === 'field_invalid' && /legs\.1\.symbol .* of legs\.0 again/.test(cause.message)
    )
  }
})
