import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { cmeCalendar, midnight, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { openCatalog } from '../../src/market/lean/catalog.ts'
import { recordedTradeBars } from '../../src/market/lean/recorded-bars.ts'
import { zipEntries, zippedLines } from '../../src/market/lean/zip.ts'
import { recordedFolder } from './recorded.ts'

const ZONE = 'America/New_York'

test('the days with trades in shares are the trading days of the calendar', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  const catalog = await openCatalog(folder)
  const calendar = usEquityCalendar()
  for (const symbol of ['SPY', 'AAPL']) {
    const bars = await recordedTradeBars(catalog, { symbol, resolution: 'daily', date: null })
    const dates = bars.map(({ start }) => calendar.dateAt(start / 1_000))
    const [first = '', last = ''] = [dates[0], dates.at(-1)]
    const expected: string[] = []
    for (let date: string = first; date <= last; date = calendar.nextTradingDay(date)) expected.push(date)
    assert.deepEqual(dates, expected)
    t.diagnostic(
      `${symbol}: ${dates.length} recorded days from ${first} to ${last}, all of them trading days, and no trading day without one`
    )
  }
})

test('futures traded in the hours of the calendar, except for a quarter of an hour that no longer exists', async t => {
  const folder = recordedFolder(t)
  if (folder === null) return
  const calendar = cmeCalendar()
  let [inside, gone] = [0, 0]
  for (const date of ['20131007', '20131008']) {
    const start = midnight(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`, 'UTC')
    const file = join(folder, 'future/cme/minute/es', `${date}_trade.zip`)
    const december = (await zipEntries(file)).find(({ fileName }) => fileName.endsWith('201312.csv'))
    assert.ok(december !== undefined)
    for await (const { lines } of zippedLines(file, undefined, december))
      for (const line of lines) {
        const at = start + Number(line.slice(0, line.indexOf(',')))
        if (calendar.phaseAt(at) !== 'closed') inside++
        // Until September 2015 trading ended at 17:15.
        else if (at - midnight(calendar.dateAt(at), ZONE) < 17.25 * 3_600_000) gone++
        else assert.fail(`traded while closed: ${new Date(at).toISOString()}`)
      }
  }
  t.diagnostic(`ES: ${inside} recorded minutes within the calendar's hours, ${gone} from 17:00 to 17:15, none in the pause`)
  assert.deepEqual([inside, gone], [2_686, 30])
})
