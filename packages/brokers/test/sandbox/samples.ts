/** What there is to trade at the sandbox for the broker contract: one sample an instrument, at today's prices. */

import assert from 'node:assert/strict'
import { type Decimal, dividedBy, parseDecimal, times } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Instrument, OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { Sample } from '@trunkline/testkit/broker-contract/index'
import type { Json, SandboxProcess } from './sandbox-process.ts'

const UNDERLYING = 'SPY'
const ONE = parseDecimal('1', 'one')

interface SampleParts {
  readonly brokerAccountId: string
  readonly symbol: string
  readonly instrument: Instrument
  readonly price: Decimal
  readonly quantity: string
  /** Smallest step of a price, and of the multiple it must be. */
  readonly tick: string
}

export async function samplesOf(sandbox: SandboxProcess, token: string, login: Json): Promise<ReadonlyMap<Instrument, Sample>> {
  const items = async (path: string): Promise<Json> => JSON.parse(await sandbox.get(path, token)).items
  const account = (kind: string) => login.accounts.find((each: Json) => each.kind === kind).id
  const [future] = (await items('/instruments?class=future&search=ES')).filter(({ symbol }: Json) => /^ES[FGHJKMNQUVXZ]\d\d$/.test(symbol))
  const quotes = await items(`/quotes?symbols=SPY,BTC%2FUSD,${future.symbol}`)
  const bid = (symbol: string) => parseDecimal(quotes.find((each: Json) => each.symbol === symbol).bid, 'bid')
  const [near, far] = await calls(items)
  const parts = (instrument: Instrument, kind: string, more: Omit<SampleParts, 'brokerAccountId' | 'instrument'>) =>
    sampleOf({ instrument, brokerAccountId: account(kind), ...more })
  return new Map<Instrument, Sample>([
    ['STK', parts('STK', 'margin', { symbol: 'SPY', price: bid('SPY'), quantity: '2', tick: '0.01' })],
    ['CRYPTO', parts('CRYPTO', 'coin', { symbol: 'BTC/USD', price: bid('BTC/USD'), quantity: '0.001', tick: '0.01' })],
    ['OPT', parts('OPT', 'margin', { symbol: near.s, price: parseDecimal(near.b, 'bid'), quantity: '2', tick: '0.05' })],
    ['FUT', parts('FUT', 'futures', { symbol: future.symbol, price: bid(future.symbol), quantity: '1', tick: '0.25' })],
    ['MLEG_OPT', spreadOf(account('margin'), near.s, far.s)]
  ])
}

/** Two calls about the money of an expiration that is not the next. */
async function calls(items: (path: string) => Promise<Json>): Promise<readonly [Json, Json]> {
  const expirations = await items(`/expirations?underlying=${UNDERLYING}`)
  const rows = await items(`/chain?underlying=${UNDERLYING}&expiration=${expirations[2].expiration}`)
  const all = rows.filter(({ right }: Json) => right === 'call')
  const at = Math.floor(all.length / 2)
  assert.ok(at > 0 && all[at].b !== null && all[at + 1].b !== null)
  return [all[at], all[at + 1]]
}

/** Options state whether they open or close; here what is bought opens and what is sold closes. */
function sideFor(instrument: Instrument, side: Side): Side {
  if (instrument !== 'OPT') return side
  return side === 'BUY' ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE'
}

function sampleOf({ brokerAccountId, symbol, instrument, price, quantity, tick }: SampleParts): Sample {
  const at = (share: string) => {
    const steps = dividedBy(times(price, parseDecimal(share, 'share')), parseDecimal(tick, 'tick'), 0)
    return times(steps, parseDecimal(tick, 'tick'))
  }
  const plain: OrderTicket = {
    side: sideFor(instrument, 'BUY'),
    type: 'MKT',
    tif: instrument === 'CRYPTO' ? 'GTC' : 'DAY',
    symbol,
    instrument,
    quantity: parseDecimal(quantity, 'quantity'),
    notional: null,
    limitPrice: null,
    stopPrice: null,
    legs: null
  }
  function resting(type: OrderType, tif: TimeInForce, side: Side): OrderTicket | null {
    if (type === 'MKT') return null
    const [away, beyond] = side === 'BUY' ? [at('0.95'), at('1.05')] : [at('1.05'), at('0.95')]
    return {
      ...plain,
      type,
      tif,
      side: sideFor(instrument, side),
      limitPrice: type === 'LMT' ? away : type === 'STPLMT' ? beyond : null,
      stopPrice: type === 'LMT' ? null : beyond
    }
  }
  const byAmount = instrument === 'STK' || instrument === 'CRYPTO'
  return {
    brokerAccountId,
    symbol,
    resting,
    marketable: plain,
    closing: { ...plain, side: sideFor(instrument, 'SELL') },
    tooDear: { ...plain, quantity: parseDecimal('100000', 'quantity') },
    // An order by amount does not outlive the day.
    notional: byAmount
      ? { ...plain, tif: instrument === 'CRYPTO' ? 'IOC' : 'DAY', quantity: null, notional: parseDecimal('250', 'notional') }
      : null,
    otherLimit: at('0.94')
  }
}

/** Buys the near call and sells the far one, which costs something. */
function spreadOf(brokerAccountId: string, near: string, far: string): Sample {
  const marketable: OrderTicket = {
    side: 'BUY',
    type: 'MKT',
    tif: 'DAY',
    symbol: null,
    instrument: 'MLEG_OPT',
    quantity: parseDecimal('2', 'quantity'),
    notional: null,
    limitPrice: null,
    stopPrice: null,
    legs: [
      { symbol: near, side: 'BUY_TO_OPEN', ratio: ONE, fills: [] },
      { symbol: far, side: 'SELL_TO_OPEN', ratio: ONE, fills: [] }
    ]
  }
  return {
    brokerAccountId,
    symbol: near,
    // No buyer pays for receiving it.
    resting: (type, tif) => (type === 'LMT' ? { ...marketable, type, tif, limitPrice: parseDecimal('-0.05', 'limit') } : null),
    marketable,
    closing: {
      ...marketable,
      side: 'SELL',
      legs: [
        { symbol: near, side: 'SELL_TO_CLOSE', ratio: ONE, fills: [] },
        { symbol: far, side: 'BUY_TO_CLOSE', ratio: ONE, fills: [] }
      ]
    },
    tooDear: { ...marketable, quantity: parseDecimal('100000', 'quantity') },
    notional: null,
    otherLimit: parseDecimal('0', 'limit')
  }
}
