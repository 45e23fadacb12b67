// The parts of the live page that need no browser.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Connection } from '../../../src/http/docs/live/client/connection.js'
import { fridaysFrom, monthlyAfter } from '../../../src/http/docs/live/client/expirations.js'
import { History, secondsIn } from '../../../src/http/docs/live/client/history.js'
import { Subscriptions } from '../../../src/http/docs/live/client/subscriptions.js'
import { waitMs } from '../../../src/http/docs/live/client/trading/backoff.js'
import { BarList } from '../../../src/http/docs/live/client/trading/bar-list.js'
import {
  figure,
  percent,
  placesOf,
  secondsOf,
  shortened,
  sumOf,
  timesOf,
  zoneOf
} from '../../../src/http/docs/live/client/trading/format.js'

const bar = (seconds: number, c: string, st: 'c' | 'o' = 'c') => ({ o: '10', h: '12.5', l: '9', c, v: '7', ts: `${seconds}000000000`, st })

describe('bars in a list', () => {
  const listed = (list: BarList) => list.all.map(({ time, texts }) => [time, texts.c, texts.st])

  test('are in order, one for each start, in whatever order they arrive', () => {
    const list = new BarList()
    for (const one of [bar(60, '1'), bar(180, '3'), bar(120, '2'), bar(180, '3.25')]) list.put(one)
    assert.deepEqual(listed(list), [
      [60, '1', 'c'],
      [120, '2', 'c'],
      [180, '3.25', 'c']
    ])
    assert.equal(list.places, 2)
  })

  test('an open one is replaced until it closes, and never after that', () => {
    const list = new BarList()
    for (const one of [bar(60, '1', 'o'), bar(60, '2', 'o'), bar(60, '3'), bar(60, '4', 'o')]) list.put(one)
    assert.deepEqual(listed(list), [[60, '3', 'c']])
  })

  test('report whether they are the newest, which decides how they are drawn', () => {
    const list = new BarList()
    assert.deepEqual(
      [bar(120, '1', 'o'), bar(60, '2'), bar(120, '3')].map(one => list.put(one).isNewest),
      [true, false, true]
    )
  })

  test('older ones are inserted before, and none twice', () => {
    const list = new BarList()
    list.put(bar(180, '3', 'o'))
    assert.equal(list.putBefore([bar(60, '1'), bar(120, '2'), bar(180, '9')]), 2)
    assert.deepEqual(listed(list), [
      [60, '1', 'c'],
      [120, '2', 'c'],
      [180, '3', 'o']
    ])
    assert.equal(list.oldest, 60)
  })
})

describe('older bars', () => {
  function requested(replies: readonly (readonly ReturnType<typeof bar>[] | null)[]) {
    const windows: { readonly start_time: string; readonly end_time: string }[] = []
    const states: string[] = []
    const got: number[] = []
    const connection = Object.assign(new Connection(hooks()), {
      request(fields: Readonly<Record<string, unknown>>, answered: (reply: object) => void) {
        windows.push({ start_time: String(fields.start_time), end_time: String(fields.end_time) })
        const data = replies[windows.length - 1]
        if (data !== undefined) answered(data === null ? { type: 'error' } : { type: 'snapshot_response', data })
      }
    })
    const history = new History(
      connection,
      bars => got.push(...bars.map(({ ts }) => secondsOf(ts))),
      state => states.push(state)
    )
    return { history, windows, states, got }
  }
  const NOON = Date.parse('2026-11-20T12:00:00Z') / 1_000

  test('are requested up to the oldest one, one window at a time', () => {
    const { history, windows, got, states } = requested([[bar(NOON - 60, '1')]])
    history.begin({ symbol: 'SPY', interval: '1m' })
    history.want(NOON)
    assert.deepEqual(windows, [{ start_time: '2026-11-20T05:20:00.000Z', end_time: '2026-11-20T12:00:00.000Z' }])
    assert.deepEqual([got, states], [[NOON - 60], ['more', 'loading', 'more']])
  })

  test('are requested in ever larger windows while the market was closed, and given up in the end', () => {
    const { history, windows, states } = requested(Array.from({ length: 20 }, () => []))
    history.begin({ symbol: 'SPY', interval: '1m' })
    history.want(NOON)
    assert.equal(states.at(-1), 'none')
    const lengths = windows.map(({ start_time, end_time }) => Date.parse(end_time) - Date.parse(start_time))
    assert.ok(lengths.length > 3 && lengths.every((length, at) => at === 0 || length >= (lengths[at - 1] ?? 0)))
    for (const [at, { end_time }] of windows.entries()) if (at > 0) assert.equal(end_time, windows[at - 1]?.start_time)
    history.want(NOON - 1)
    assert.equal(windows.length, lengths.length, 'not asked for any more')
  })

  test('are asked for again in a new session, where the answer of the one before is not waited for nor taken', () => {
    const answers: ((reply: object) => void)[] = []
    const got: number[] = []
    const states: string[] = []
    const connection = Object.assign(new Connection(hooks()), {
      request: (_fields: object, answered: (reply: object) => void) => void answers.push(answered)
    })
    const history = new History(
      connection,
      bars => got.push(...bars.map(({ ts }) => secondsOf(ts))),
      state => states.push(state)
    )
    history.begin({ symbol: 'SPY', interval: '1m' })
    history.again()
    assert.equal(answers.length, 0, 'nothing was asked for')
    history.want(NOON)
    history.again()
    assert.equal(answers.length, 2)
    const data = [bar(NOON - 60, '1')]
    for (const answered of answers) answered({ type: 'snapshot_response', data })
    assert.deepEqual([got, states.at(-1)], [[NOON - 60], 'more'])
  })

  test('are requested one window at a time, not after an error, and only for BrokerDefault', () => {
    const slow = requested([])
    slow.history.begin({ symbol: 'SPY', interval: '1m' })
    for (let times = 0; times < 3; times += 1) slow.history.want(NOON)
    assert.equal(slow.windows.length, 1)
    const refused = requested([null, [bar(60, '1')]])
    refused.history.begin({ symbol: 'SPY', interval: '1m' })
    for (let times = 0; times < 3; times += 1) refused.history.want(NOON)
    assert.deepEqual([refused.windows.length, refused.states.at(-1)], [1, 'failed'])
    const never = requested([])
    never.history.begin(null)
    never.history.want(NOON)
    assert.equal(never.windows.length, 0)
  })

  test('are never requested in windows above the limits of a snapshot or of the broker’s bars', () => {
    for (const [interval, madeOf] of [
      ['1m', 60],
      ['7m', 60],
      ['4h', 900],
      ['1d', 86_400],
      ['1w', 86_400],
      ['1M', 86_400],
      ['1y', 86_400]
    ] as const) {
      const { history, windows } = requested(Array.from({ length: 20 }, () => []))
      history.begin({ symbol: 'SPY', interval })
      history.want(NOON)
      for (const { start_time, end_time } of windows) {
        const bars = (Date.parse(end_time) - Date.parse(start_time)) / 1_000 / secondsIn(interval)
        assert.ok(bars <= 50_000 && Date.parse(start_time) >= Date.UTC(1998), `${interval} ${start_time} ${end_time}`)
        assert.ok((bars * secondsIn(interval)) / madeOf <= 50_000, `${interval} of ${madeOf} s, ${start_time} ${end_time}`)
      }
    }
  })
})

describe('subscriptions', () => {
  function open() {
    const requested: { readonly action: string; readonly answered: (reply: object) => void; readonly fields: object }[] = []
    const connection = Object.assign(new Connection(hooks()), {
      request(fields: Readonly<Record<string, unknown>>, answered: (reply: object) => void) {
        requested.push({ action: String(fields.action), answered, fields })
      }
    })
    const subscriptions = new Subscriptions(connection)
    const received: string[] = []
    const subscribe = (name: string) =>
      subscriptions.open({ channel: name }, { update: () => received.push(name), refused: () => received.push(`no ${name}`) })
    const answer = (at: number, subId: string) => requested[at]?.answered({ type: 'subscription_success', sub_id: subId })
    return { requested, subscriptions, received, subscribe, answer }
  }

  test('receive their own updates, from their reply to their end', () => {
    const { requested, subscriptions, received, subscribe, answer } = open()
    const end = subscribe('bars')
    subscribe('quotes')
    answer(0, '1')
    requested[1]?.answered({ type: 'error', error_code: 'unsupported_channel' })
    subscriptions.take({ sub_id: '1' })
    end()
    subscriptions.take({ sub_id: '1' })
    assert.deepEqual(received, ['no quotes', 'bars'])
    assert.deepEqual(requested.at(-1)?.fields, { action: 'unsubscribe', sub_id: '1' })
  })

  test('that were cancelled before their reply are ended', () => {
    const { requested, subscriptions, received, subscribe, answer } = open()
    subscribe('bars')()
    answer(0, '1')
    subscriptions.take({ sub_id: '1' })
    assert.deepEqual([received, requested.map(({ action }) => action)], [[], ['subscribe', 'unsubscribe']])
  })

  test('that were interrupted together resume together', () => {
    const { subscriptions, subscribe, answer } = open()
    subscribe('bars')
    subscribe('quotes')
    answer(0, '1')
    answer(1, '2')
    subscriptions.interrupt(['1', '2', '99'])
    assert.equal(subscriptions.areInterrupted, true)
    subscriptions.take({ sub_id: '2' })
    assert.equal(subscriptions.areInterrupted, false)
  })

  test('that are ended no longer count as interrupted', () => {
    const { subscriptions, subscribe, answer } = open()
    const end = subscribe('bars')
    answer(0, '1')
    subscriptions.interrupt(['1'])
    end()
    assert.equal(subscriptions.areInterrupted, false)
  })
})

describe('what is written', () => {
  test('figures keep every decimal place', () => {
    assert.equal(figure('1234567.5', 2), '1,234,567.50')
    assert.equal(figure('-1234', 0), '-1,234')
    assert.equal(figure('90071992547409931.123456789', 2), '90,071,992,547,409,931.123456789')
    assert.equal(figure(null), '–')
    assert.equal(percent('0.2514'), '25.1%')
    assert.equal(placesOf('1.250'), 3)
  })

  test('an average is shown with the digits of its instrument, and what was left out is in its title', () => {
    for (const [text, places, shown, title] of [
      ['227.623333333', 2, '227.62', 'exactly 227.623333333'],
      ['1227.625', 2, '1,227.63', 'exactly 1,227.625'],
      ['-0.005', 2, '-0.01', 'exactly -0.005'],
      ['9.999', 2, '10.00', 'exactly 9.999'],
      ['227.5', 2, '227.50', ''],
      ['0.001', 2, '0.001', ''],
      ['0.000', 2, '0.00', ''],
      ['12.5', 0, '13', 'exactly 12.5'],
      [null, 2, '–', '']
    ] as const)
      assert.deepEqual(shortened(text, places), { text: shown, title }, String(text))
  })

  test('sums are exact, without zeros at their end', () => {
    for (const [texts, sum] of [
      [['0.1', '0.2'], '0.3'],
      [['90071992547409931', '0.000000001'], '90071992547409931.000000001'],
      [['1.5', '2.5'], '4'],
      [['10', '20'], '30'],
      [[], '0']
    ] as const)
      assert.equal(sumOf(texts), sum)
  })

  test('times are those of the market, across daylight saving changes', () => {
    const { clock, moment } = timesOf(zoneOf('SPY').zone)
    assert.equal(clock('1793376000000000000'), '12:00:00')
    assert.equal(clock('1793721600000000000'), '11:00:00')
    assert.match(moment(1_793_376_000), /30 Oct 2026, 12:00$/)
    assert.equal(timesOf(zoneOf('BTC/USD').zone).clock('1793376000123456789'), '16:00:00')
  })

  test('suggested expirations start today, and the default is a third Friday at least two weeks away', () => {
    const friday = Date.parse('2026-11-20T15:00:00Z')
    assert.deepEqual(fridaysFrom(friday).slice(0, 2), ['2026-11-20', '2026-11-27'])
    assert.equal(fridaysFrom(friday + 86_400_000)[0], '2026-11-27')
    assert.equal(monthlyAfter(friday), '2026-12-18')
    assert.equal(monthlyAfter(Date.parse('2026-12-10T00:00:00Z')), '2027-01-15')
  })
})

test('the wait grows with the failures up to half a minute, with jitter', () => {
  assert.deepEqual(
    [0, 1, 4, 20].map(failures => waitMs(failures, 1)),
    [500, 1_000, 8_000, 30_000]
  )
  assert.deepEqual([waitMs(4, 0), waitMs(4, 0.25)], [300, 2_225])
})

function hooks(): ConstructorParameters<typeof Connection>[0] {
  const nothing = () => undefined
  return {
    ...{ connecting: nothing, ready: nothing, refused: nothing, closed: nothing },
    ...{ update: nothing, errored: nothing, sent: nothing, received: nothing }
  }
}
