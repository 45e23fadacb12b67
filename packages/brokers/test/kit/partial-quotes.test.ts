import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, parseDecimal, plus, sum } from '@trunkline/core/domain/decimal'
import type { Trade } from '@trunkline/core/domain/market/records'
import fc from 'fast-check'
import { decimalOrNull, type Wire } from '../../src/kit/parse.ts'
import { PartialQuote, type QuoteFields } from '../../src/kit/partial-quotes.ts'

const FIELDS: QuoteFields = {
  ...{ bid: 'Bid', bidSize: 'BidSize', ask: 'Ask', askSize: 'AskSize' },
  ...{ last: 'Last', lastSize: 'LastSize', volume: 'Volume', tradeTime: 'TradeTime', venue: 'LastVenue' },
  amount: decimalOrNull
}

test('a repetition is no trade, nor is a line that came late; a new day is', () => {
  const symbol = new PartialQuote(FIELDS)
  const line = (TradeTime: string, Volume: string, LastSize = '5'): Wire => ({ Symbol: 'MSFT', Last: '10', LastSize, TradeTime, Volume })
  const trade = (wire: Wire) => symbol.apply(wire, 0).trade?.size ?? null
  assert.equal(trade(line('2026-11-20T15:00:00Z', '100')), null, 'the first line is the past')
  assert.equal(trade(line('2026-11-20T15:00:01Z', '110')), '10')
  assert.equal(trade(line('2026-11-20T15:00:01Z', '110')), null)
  assert.equal(trade(line('2026-11-20T15:00:00Z', '105')), null, 'an older time')
  assert.equal(trade(line('2026-11-20T15:00:01Z', '104')), null, 'an older volume')
  assert.equal(trade(line('2026-11-20T15:00:02Z', '115')), '5')
  assert.equal(trade(line('2026-11-21T15:00:00Z', '7', '7')), '7', 'the volume restarts')
  symbol.forget()
  assert.equal(trade(line('2026-11-21T15:00:09Z', '90')), null, 'after a loss the first line is the past again')
  const noVolume = new PartialQuote(FIELDS)
  noVolume.apply({ Last: '10', LastSize: '5', TradeTime: '2026-11-20T15:00:00Z' }, 0)
  assert.equal(noVolume.apply({ LastSize: '6', TradeTime: '2026-11-20T15:00:01Z' }, 0).trade?.size, '6')
})

test('derived trades have the volume of the day, whatever the lines left out', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(sizes, fc.infiniteStream(fc.boolean()), (traded, isReported) => {
      const symbol = new PartialQuote(FIELDS)
      symbol.apply({ Last: '10', LastSize: '1', Volume: '1000', TradeTime: '2026-11-20T15:00:00Z' }, 0)
      const trades: Trade[] = []
      let volume = parseDecimal('1000', 'volume')
      for (const [index, size] of traded.entries()) {
        volume = plus(volume, parseDecimal(String(size), 'size'))
        const isLast = index === traded.length - 1
        if (!isLast && isReported.next().value === false) continue
        const line = {
          Last: '10',
          LastSize: String(size),
          Volume: volume,
          TradeTime: `2026-11-20T15:00:${String(index + 1).padStart(2, '0')}Z`
        }
        const { trade } = symbol.apply(line, 0)
        if (trade !== null) trades.push(trade)
      }
      assert.equal(compare(sum([parseDecimal('1000', 'volume'), ...trades.map(({ size }) => size)]), volume), 0)
      assert.ok(trades.every(({ at: time }, index) => index === 0 || time >= (trades[index - 1]?.at ?? time)))
    })
  )
})
