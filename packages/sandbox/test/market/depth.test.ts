import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describedLevels, type Instrument, openSynthetic, printVenue } from '../../src/market/index.ts'

const NOW = Date.UTC(2026, 10, 20, 15) * 1_000

test('the same book always shows the same orders and venues, within bounds, from the kind’s venues', async () => {
  const market = openSynthetic({ seed: '7', calendar: 'always' })
  await market.next(NOW)
  const contracts = ['SPY261218C00660000', 'ESZ26', 'CLF27', 'GCZ26']
  market.follow(contracts)
  const symbols = new Map<string, Instrument>([...market.instruments].map(instrument => [instrument.symbol, instrument]))
  for (const symbol of contracts) {
    const found = market.find(symbol, NOW)
    assert.ok(found !== null)
    symbols.set(symbol, found)
  }
  const venues = new Map<string, Set<string>>()
  const orders = new Set<number>()
  let levels = 0
  for (const command of (await market.next(NOW + 20_000_000)).commands) {
    if (command.type !== 'quote') continue
    const instrument = symbols.get(command.symbol)
    assert.ok(instrument !== undefined)
    for (const [side, shown] of [
      ['bid', command.bids],
      ['ask', command.asks]
    ] as const) {
      const described = describedLevels(instrument, side, shown)
      assert.deepEqual(describedLevels(instrument, side, [...shown]), described)
      assert.deepEqual(
        described.map(({ price, size }) => [price, size]),
        shown
      )
      for (const level of described) {
        assert.ok(level.orders >= 1 && level.orders <= 25 && Number.isInteger(level.orders))
        if (instrument.kind !== 'CRYPTO') assert.ok(level.orders <= Number(level.size), `${level.orders} orders of ${level.size}`)
        assert.match(level.venue, /^[A-Z]{4}$/)
        venues.set(instrument.kind, (venues.get(instrument.kind) ?? new Set()).add(level.venue))
        orders.add(level.orders)
        levels++
      }
    }
  }
  assert.ok(levels > 5_000 && orders.size > 20)
  assert.deepEqual([...(venues.get('FUT') ?? [])].toSorted(), ['XCEC', 'XCME', 'XNYM'])
  assert.ok((venues.get('STK')?.size ?? 0) >= 5 && (venues.get('OPT')?.size ?? 0) >= 4)
})

test('a print’s venue depends only on the print', async () => {
  const market = openSynthetic({ seed: '7', calendar: 'always' })
  await market.next(NOW)
  const venues = new Set<string>()
  for (const command of (await market.next(NOW + 20_000_000)).commands) {
    const instrument = command.type === 'trade' ? market.find(command.symbol, NOW) : null
    if (command.type !== 'trade' || instrument?.kind !== 'STK') continue
    assert.equal(printVenue(instrument, command), printVenue({ ...instrument }, { ...command }))
    venues.add(printVenue(instrument, command))
  }
  assert.ok(venues.size >= 5)
})
