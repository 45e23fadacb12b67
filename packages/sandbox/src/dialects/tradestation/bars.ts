/** Bars over REST and of single minutes as a stream: each is named by its end, a day by that of its session. */

import { midnight, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import { BARS_MAX, type Bar, type BarInterval, type Instrument, type Micros, microsOf, NEW_YORK } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import { bad, bodyOf, timeOf } from './answers.ts'
import type { Begin } from './streams.ts'

/** Intervals in minutes. */
const MINUTES: Readonly<Record<string, BarInterval>> = { 1: '1m', 5: '5m', 15: '15m', 30: '30m', 60: '1h' }
/** Which phases of the day share bars are made of; they matter for minutes of shares only. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  Default: ['open'],
  USEQPreAndPost: ['pre', 'open', 'post'],
  USEQ24Hour: ['pre', 'open', 'post', 'closed']
}
const MINUTE: Micros = 60_000_000
const DAY: Micros = 1_440 * MINUTE
const MOST = 57_600
const HOUR_OF_CLOSE = { shares: 16, futures: 17 } as const

interface BarsRequest {
  readonly interval: BarInterval
  readonly length: Micros
  readonly template: string
  /** How many back, or from when on. */
  readonly barsBack: number | null
  readonly from: Micros
  readonly to: Micros
}

/** @throws Problem `bad_request` */
function requested(query: unknown, now: Micros): BarsRequest {
  const body = bodyOf(texts(query))
  const minutes = body.textOr('interval') ?? '1'
  const isDaily = body.memberOr('unit', ['Minute', 'Daily']) !== 'Minute'
  const interval = isDaily ? '1d' : (MINUTES[minutes] ?? bad('The sandbox has bars of 1, 5, 15, 30 and 60 minutes'))
  const template = body.memberOr('sessiontemplate', Object.keys(TEMPLATES)) ?? 'Default'
  const instant = (name: string) => body.readOr(name, 'must be an RFC 3339 time', text => microsOf(text) ?? undefined)
  const from = instant('firstdate')
  const barsBack = from === null ? (body.countOr('barsback', 1, MOST) ?? 1) : null
  return { interval, length: isDaily ? DAY : Number(minutes) * MINUTE, template, barsBack, from: from ?? 0, to: instant('lastdate') ?? now }
}

/** The newest that were requested, ascending; the bar under way is there when the request reaches it. @throws Problem `bad_request` */
export async function barsOf({ market, clock }: BrokerageView, instrument: Instrument, query: unknown): Promise<readonly object[]> {
  const now = clock.now()
  const { interval, length, template, barsBack, from, to } = requested(query, now)
  const { symbol, hours } = instrument
  const calendar = usEquityCalendar()
  const phases = interval !== '1d' && hours === 'us_equity' ? TEMPLATES[template] : undefined
  const isWanted = (bar: Bar) => {
    const end = endOf(instrument, bar, length)
    const isReached = end <= to || (to >= now && bar.start <= now)
    return end >= from && isReached && (phases?.includes(calendar.phaseAt(bar.start / 1_000)) ?? true)
  }
  const most = barsBack ?? MOST
  let found: readonly Bar[] = []
  // Nothing earlier can be a bar that is named by `from`.
  const earliest = Math.max(0, from - length)
  for (let until = Math.min(to, now) + 1; found.length < most; ) {
    const bars = await market.bars({ symbol, interval, from: earliest, to: until, now, limit: BARS_MAX })
    found = [...bars.filter(isWanted), ...found]
    until = bars[0]?.start ?? earliest
    if (bars.length < BARS_MAX) break
  }
  const shown = found.slice(-most)
  return shown.map(bar =>
    barWire(bar, endOf(instrument, bar, length), { IsRealtime: false, IsEndOfHistory: barsBack !== null && bar === shown.at(-1) })
  )
}

/** Those requested, then the present one as it grows, and each as it closes. */
export function barStream(brokerage: BrokerageView, instrument: Instrument, query: unknown): Begin {
  return async stream => {
    // From here on every minute is kept, so that none is missed while history is read.
    const kept: Bar[] = []
    let onBar = (bar: Bar): void => void kept.push(bar)
    stream.hold(brokerage.taps.add(instrument.symbol, { bar: bar => onBar(bar) }))
    const known = brokerage.clock.now()
    for (const bar of await barsOf(brokerage, instrument, query)) stream.send(bar)
    onBar = bar => {
      if (bar.start + MINUTE > known) stream.event(barWire(bar, bar.start + MINUTE, { IsRealtime: true, IsEndOfHistory: false }))
    }
    for (const bar of kept) onBar(bar)
  }
}

function endOf({ kind, hours }: Instrument, { start }: Bar, length: Micros): Micros {
  if (length < DAY) return start + length
  const time = Temporal.Instant.fromEpochMilliseconds(start / 1_000).toZonedDateTimeISO(kind === 'CRYPTO' ? 'UTC' : NEW_YORK)
  // A futures day begins on the evening before.
  const date = time.toPlainDate().add({ days: hours === 'cme' && time.hour >= HOUR_OF_CLOSE.futures ? 1 : 0 })
  if (kind === 'CRYPTO') return midnight(date.add({ days: 1 }), 'UTC') * 1_000
  const session = usEquityCalendar()
    .spansOn(date.toString())
    .find(({ phase }) => phase === 'open')
  if (session !== undefined && kind !== 'FUT') return session.end * 1_000
  const hour = kind === 'FUT' ? HOUR_OF_CLOSE.futures : HOUR_OF_CLOSE.shares
  return date.toZonedDateTime({ timeZone: NEW_YORK, plainTime: { hour } }).epochMilliseconds * 1_000
}

/** `IsRealtime`: made of trades as they came. */
function barWire(
  { open, high, low, close, volume, closed }: Bar,
  end: Micros,
  flags: Readonly<Record<'IsRealtime' | 'IsEndOfHistory', boolean>>
) {
  return {
    ...{ High: high, Low: low, Open: open, Close: close, TimeStamp: timeOf(end), TotalVolume: volume, ...flags },
    ...{ BarStatus: closed ? 'Closed' : 'Open', Epoch: Math.floor(end / 1_000) }
  }
}
