import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { QuoteCommand } from '../../src/engine/types.ts'
import { type Instrument, type Market, openSynthetic } from '../../src/market/index.ts'
import { UNDERLYINGS } from '../../src/market/synthetic/underlyings.ts'
import { always, NOW, newYork, prices, shown, symbolsOf } from './contracts.ts'

const SECOND = 1_000_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const YEAR = 365 * 24 * HOUR

test('chains are found by underlying and expiration, and their contracts by symbol; others do not exist', () => {
  const market = always()
  for (const { symbol, style, settlement } of UNDERLYINGS) {
    const expirations = market.expirations(symbol, NOW)
    assert.ok(expirations.length >= 9)
    for (const expiration of expirations) {
      const chain = market.chain(symbol, expiration, NOW)
      assert.equal(chain.length, 82, `${symbol} ${expiration}`)
      assert.deepEqual(market.chain(symbol, expiration, NOW + HOUR), chain)
      for (const instrument of chain) {
        assert.deepEqual(market.find(instrument.symbol, NOW), instrument)
        assert.ok(instrument.option !== undefined && instrument.hours === 'always' && instrument.market === 'us-option')
        assert.deepEqual(
          [instrument.option.underlying, instrument.option.expiration, instrument.option.style, instrument.option.settlement],
          [symbol, expiration, style, settlement]
        )
      }
      const strikes = chain.map(({ option }) => Number(option?.strike))
      assert.ok(strikes.every((strike, index) => index === 0 || strike >= (strikes[index - 1] ?? 0)))
      const spot = Number(market.priceOf(symbol, NOW))
      assert.ok((strikes[0] ?? spot) < spot && (strikes.at(-1) ?? spot) > spot)
    }
  }
  assert.deepEqual(market.expirations('THIN', NOW), [])
  assert.deepEqual(market.chain('SPY', '2026-11-25', NOW), [])
  assert.deepEqual(market.chain('THIN', '2026-12-18', NOW), [])
  assert.equal(market.find('SPX', NOW), null)
  for (const symbol of ['SPY261218C00661000', 'SPY261217C00660000', 'SPY261218C09990000', 'KO261218C00070000', 'SPY271119C00660000'])
    assert.equal(market.find(symbol, NOW), null, symbol)
  assert.equal(market.find('SPY261120C00660000', NOW)?.symbol, 'SPY261120C00660000')
  assert.equal(market.find('SPY261120C00660000', newYork('2026-11-20T16:00')), null)
  assert.equal(market.figures('SPY', NOW), null)
  assert.equal(openSynthetic({ seed: '7', calendar: 'exchange' }).find('SPY261218C00660000', NOW)?.hours, 'us_option')
})

const underlyings = fc.constantFrom(...UNDERLYINGS.map(({ symbol }) => symbol))

test('the quotes of a chain allow no arbitrage', async () => {
  const minutes = fc.integer({ min: 0, max: 300 * 24 * 60 })
  await fc.assert(
    fc.asyncProperty(fc.integer(), minutes, underlyings, async (seed, later, underlying) => {
      await assertMarketFair({ seed, underlying, at: NOW + later * MINUTE })
    }),
    { numRuns: 6 }
  )
})

test('nor in the last hours before an expiration, when the outer strikes have the highest volatilities', async () => {
  const weeks = fc.integer({ min: 0, max: 40 })
  const left = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 24 * 60 }))
  await fc.assert(
    fc.asyncProperty(fc.integer(), weeks, left, underlyings, async (seed, week, minutesLeft, underlying) => {
      const market = always(String(seed))
      const [expiration = ''] = market.expirations(underlying, NOW + week * 7 * 24 * HOUR)
      const lastTradeAt = newYork(`${expiration}T16:00`)
      await assertMarketFair({ seed, underlying, at: lastTradeAt - minutesLeft * MINUTE })
    }),
    { numRuns: 4 }
  )
})

async function assertMarketFair({ seed, underlying, at }: { seed: number; underlying: string; at: number }): Promise<void> {
  const market = always(String(seed))
  await market.next(at - 1)
  const chains = market.expirations(underlying, at).map(expiration => market.chain(underlying, expiration, at))
  assert.ok(chains.length >= 9)
  for (const chain of chains) market.follow(symbolsOf(chain))
  const quotes = shown((await market.next(at)).commands)
  // Quotes are as of the last whole second, and the underlying has moved since.
  const since = Array.from({ length: 101 }, (_, index) => Number(market.priceOf(underlying, at - index * (SECOND / 100))))
  const spot = { low: Math.min(...since), high: Math.max(...since) }
  for (const chain of chains) assertFair(chain, { quotes, spot, at, market })
}

/** The variance of the outer strikes falls with the square root of the remaining time, so their volatility rises with its fourth root. */
function volatilityMax(left: number): number {
  return 3 * Math.max(1, (4 * HOUR) / left) ** 0.25
}

interface Fair {
  readonly quotes: ReadonlyMap<string, QuoteCommand>
  readonly spot: { readonly low: number; readonly high: number }
  readonly at: number
  readonly market: Market
}

function assertFair(chain: readonly Instrument[], { quotes, spot, at, market }: Fair): void {
  const european = chain[0]?.option?.style === 'european'
  const facts = UNDERLYINGS.find(({ symbol }) => symbol === chain[0]?.option?.underlying)
  assert.ok(facts !== undefined)
  for (const [index, instrument] of chain.entries()) {
    const option = instrument.option
    assert.ok(option !== undefined)
    const { symbol } = instrument
    const { bid, ask } = prices(quotes.get(symbol))
    const figures = market.figures(symbol, at)
    const theoretical = Number(figures?.theoretical)
    assert.ok(bid < ask && bid <= theoretical + 1e-4 && theoretical <= ask + 1e-4, `${symbol} ${bid} ${theoretical} ${ask}`)
    const most = volatilityMax(option.lastTradeAt - at)
    assert.ok(Number(figures?.iv) > 0.03 && Number(figures?.iv) < most, `${symbol} ${figures?.iv}, at most ${most}`)
    const strike = Number(option.strike)
    const gain = option.right === 'call' ? spot.low - strike : strike - spot.high
    // Buying and exercising at once gains nothing.
    if (!european) assert.ok(ask >= gain - 1e-9, `${symbol} asks ${ask}, exercise brings ${gain}`)
    const next = chain[index + 2]
    const other = chain[index + 1]
    if (next !== undefined) {
      const further = prices(quotes.get(next.symbol))
      const [low, high] = option.right === 'call' ? [further, { bid, ask }] : [{ bid, ask }, further]
      assert.ok(low.bid <= high.bid && low.ask <= high.ask, `${symbol} and ${next.symbol} are the wrong way round`)
      const width = Number(next.option?.strike) - strike
      assert.ok(high.bid - low.ask <= width + 1e-9, `${symbol} and ${next.symbol}: more than the strikes are apart`)
      const beyond = chain[index + 4]
      if (beyond !== undefined) {
        const wing = prices(quotes.get(beyond.symbol))
        assert.ok(ask + wing.ask - 2 * further.bid >= -1e-9, `the butterfly of ${next.symbol} is paid for`)
      }
    }
    if (european && option.right === 'call' && other !== undefined) {
      const put = prices(quotes.get(other.symbol))
      const minute = at - (at % MINUTE)
      const years: number = (option.lastTradeAt - minute) / YEAR
      const forward = (price: number): number => price * Math.exp(-facts.dividend * years) - strike * Math.exp(-0.04 * years)
      assert.ok(bid - put.ask <= forward(spot.high) && ask - put.bid >= forward(spot.low), `parity of ${symbol}`)
    }
  }
}
