import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { firstBars } from '../../src/brokerage/api/bars.ts'
import { LiveBar } from '../../src/brokerage/market-stream/live-bar.ts'
import { SendBuffer } from '../../src/brokerage/market-stream/send-buffer.ts'
import { printBar, type RawBar, regrouped, toBar } from '../../src/market/bar-series.ts'
import { openSynthetic } from '../../src/market/index.ts'

const MINUTE = 60_000_000

const trade = fc.record({
  after: fc.integer({ min: 0, max: 40_000_000 }),
  cents: fc.integer({ min: 1, max: 99 }),
  size: fc.integer({ min: 1, max: 9 })
})

test('a live bar closes every minute with trades once, whenever its beginning becomes known', () => {
  fc.assert(
    fc.property(fc.array(trade, { minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(), fc.boolean(), (trades, joins, known, whole) => {
      let at = 1_000 * MINUTE
      const prints = trades.map(({ after, cents, size }) => {
        at += after
        return { at, price: `1.${String(cents).padStart(2, '0')}`, size: String(size) }
      })
      const minuteOf = (moment: number) => moment - (moment % MINUTE)
      const barsOf = (of: typeof prints) =>
        regrouped(
          of.map(({ at: when, price, size }) => printBar(when, price, size)),
          minuteOf
        )
      // A reader joins after the trade `joins`; the history of that minute is known only some trades later.
      const joined = joins % prints.length
      const begun = joined + (known % (prints.length - joined))
      const through = prints[joined]?.at ?? 0
      // Later, the history may have the whole minute, including the trades received meanwhile.
      const published = whole ? prints : prints.slice(0, joined + 1)
      const history = barsOf(published).find(({ start }) => start === minuteOf(through)) ?? null
      const over = prints.findIndex(({ at: when }) => minuteOf(when) > minuteOf(through))
      const begunAt = whole ? (over === -1 ? prints.length : Math.max(over, begun)) : begun
      const closed: RawBar[] = []
      const bar = new LiveBar({ open: () => undefined, closed: made => closed.push(made) })
      for (const [nth, print] of prints.entries()) {
        if (nth > joined) {
          bar.add(print)
          bar.reach(print.at)
        }
        if (nth === begunAt) bar.begin({ bar: history, whole }, print.at)
      }
      if (begunAt === prints.length) bar.begin({ bar: history, whole }, at + MINUTE)
      bar.reach(at + MINUTE)
      bar.reach(at + 2 * MINUTE)
      assert.deepEqual(
        closed,
        barsOf(prints).filter(({ start }) => start >= minuteOf(through))
      )
      assert.equal(bar.open, null)
    })
  )
})

test('an open bar is published after a change, at most four times a second', () => {
  const published: RawBar[] = []
  const bar = new LiveBar({ open: made => published.push(made), closed: () => undefined })
  bar.add({ at: 0, price: '1.00', size: '1' })
  bar.publish(1_000)
  assert.equal(published.length, 0, 'its beginning is not known yet')
  bar.begin({ bar: null, whole: false }, 0)
  bar.publish(1_000)
  bar.publish(2_000)
  bar.add({ at: 1, price: '2.00', size: '1' })
  bar.publish(1_249)
  assert.equal(published.length, 1)
  bar.publish(1_250)
  assert.deepEqual(
    published.map(made => toBar(made, false).close),
    ['1', '2']
  )
})

test('the buffer has every trade in order and only the newest states, and its character count is right', () => {
  const step = fc.oneof(
    fc.record({ put: fc.constantFrom('a', 'b', 'c', null), text: fc.string({ minLength: 1, maxLength: 8 }) }),
    fc.record({ drop: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ take: fc.integer({ min: 1, max: 30 }) })
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const buffer = new SendBuffer()
      let model: { readonly key: string | null; readonly item: string }[] = []
      for (const one of steps) {
        if ('put' in one) {
          const item = one.text.replaceAll(',', '.')
          model = [...model.filter(({ key }) => key === null || key !== one.put), { key: one.put, item }]
          buffer.put(item, one.put)
        } else if ('drop' in one) {
          model = model.filter(({ key }) => key !== one.drop)
          buffer.drop(one.drop)
        } else {
          const taken = buffer.take(one.take)
          const items = taken === '' ? [] : taken.split(',')
          assert.deepEqual(
            items,
            model.slice(0, items.length).map(({ item }) => item)
          )
          assert.ok(items.length > 0 || model.length === 0)
          assert.ok(items.length === 1 || taken.length <= one.take + items.length)
          model = model.slice(items.length)
        }
        assert.equal(
          buffer.chars,
          model.reduce((sum, { item }) => sum + item.length, 0)
        )
        assert.equal(buffer.empty, model.length === 0)
      }
    })
  )
})

test('bars, oldest first: pages of any size join without a gap, also over empty years', async () => {
  await using market = openSynthetic({ seed: 'pages', calendar: 'exchange' })
  const now = Date.UTC(2026, 10, 20, 16, 30) * 1_000
  await market.next(now)
  const query = { symbol: 'SPY', interval: '1m', now } as const
  const from = now - 4 * 24 * 60 * MINUTE
  const all = await market.bars({ ...query, from, to: now + 1 })
  const paged = []
  for (let start = from; ; ) {
    const page = await firstBars(market, { ...query, from: start, to: now + 1 }, 700)
    paged.push(...page)
    const last = page.at(-1)
    if (page.length < 700 || last === undefined) break
    start = last.start + 1
  }
  assert.ok(all.length > 1_000)
  assert.deepEqual(paged, all)
  const days = await firstBars(market, { ...query, interval: '1d', from: 0, to: now + 1 }, 3)
  assert.equal(new Date((days[0]?.start ?? 0) / 1_000).getUTCFullYear(), 2000)
  assert.equal(days.length, 3)
  assert.deepEqual(await firstBars(market, { ...query, from: now + MINUTE, to: now + 9 * MINUTE }, 5), [])
})
