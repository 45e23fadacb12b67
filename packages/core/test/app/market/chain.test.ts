import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHAIN_CONTRACTS_MAX, CHAINS_AT_ONCE } from '@trunkline/core/app/market/single-reads'
import type { ChainEntry } from '@trunkline/core/domain/market/records'
import { parseDay } from '@trunkline/core/domain/timestamp'
import { decimal, Stage } from '@trunkline/testkit/market-stage'

const DAY = parseDay('2026-01-16', 'day')
const CHAIN = `SPY ${DAY}`

function entry(right: 'C' | 'P', strike: string, symbol = `SPY260116${right}${strike}`): ChainEntry {
  const unknown = { bid: null, bidSize: null, ask: null, askSize: null, mid: null, last: null, open: null, high: null, low: null }
  const more = { close: null, previousClose: null, netChange: null, netChangePct: null, volume: null, greeks: null }
  return { ...unknown, ...more, symbol, right, strike: decimal(strike), expiration: DAY }
}

function chainStage(entries: readonly ChainEntry[]): Stage {
  const stage = new Stage()
  stage.broker.days.set('SPY', [DAY])
  stage.broker.chains.set(CHAIN, entries)
  return stage
}

test('a chain is sorted by strike, numerically, the call before the put, and one root after the other', async () => {
  const stage = chainStage([
    entry('P', '100'),
    entry('C', '99.5'),
    entry('C', '100', 'SPYW260116C100'),
    entry('C', '100'),
    entry('C', '1000')
  ])
  assert.deepEqual(
    (await stage.market.chain('SPY', DAY)).map(({ symbol }) => symbol),
    ['SPY260116C99.5', 'SPY260116C100', 'SPYW260116C100', 'SPY260116P100', 'SPY260116C1000']
  )
})

test('an unlisted day, a symbol without options and a chain beyond the bound are refused', async () => {
  const stage = chainStage(Array.from({ length: CHAIN_CONTRACTS_MAX + 1 }, (_, index) => entry('C', String(index + 1))))
  await assert.rejects(stage.market.chain('SPY', DAY), { code: 'unsupported_symbol', message: /5001 contracts, and 5000 is the most/ })
  await assert.rejects(stage.market.chain('SPY', '2026-01-17'), { code: 'unsupported_symbol', message: /it has 2026-01-16/ })
  await assert.rejects(stage.market.chain('BTC/USD', DAY), { code: 'unsupported_symbol', message: /no options/ })
  await assert.rejects(new Stage({ channels: ['bars'] }).market.chain('SPY', DAY), { code: 'unsupported_channel' })
})

test('a broker that does not send the whole chain in time is unavailable, and then the next waiting callers proceed', async () => {
  const stage = chainStage([entry('C', '100')])
  stage.broker.hold = () => new Promise(() => undefined)
  const silent = Array.from({ length: CHAINS_AT_ONCE }, () =>
    assert.rejects(stage.market.chain('SPY', DAY), { code: 'broker_unavailable' })
  )
  await stage.clock.settled()
  const next = stage.market.chain('SPY', DAY)
  await stage.clock.settled()
  stage.broker.hold = async () => undefined
  await stage.pass(17_000)
  await Promise.all(silent)
  assert.equal((await next).length, 1)
})

test('when a connection ends, callers waiting for a chain get an answer', async () => {
  const stage = chainStage([entry('C', '100')])
  stage.broker.hold = () => new Promise(() => undefined)
  const waiting = Array.from({ length: CHAINS_AT_ONCE + 1 }, () =>
    assert.rejects(stage.market.chain('SPY', DAY), { code: 'broker_unavailable' })
  )
  await stage.clock.settled()
  stage.market.end()
  await stage.clock.advance(1_000)
  await Promise.all(waiting)
})
