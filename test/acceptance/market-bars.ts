// Bars as a test makes them for itself: exact sums, trades gathered into minutes, smaller bars into longer ones, New York's days.
import assert from 'node:assert/strict'
import type { Body } from './api.ts'
import type { MarketClient } from './market-client.ts'

const DECIMALS = 12

/** Figures that can be compared whatever the number of their zeros. */
export interface Candle {
  readonly startMs: number
  readonly o: bigint
  readonly h: bigint
  readonly l: bigint
  readonly c: bigint
  readonly v: bigint
}

/** A decimal text as a whole number of 10⁻¹² parts. */
export function exact(text: string): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? assert.fail(`not a decimal: ${text}`)
  assert.ok(fraction.length <= DECIMALS, `more places than expected: ${text}`)
  const value = BigInt(whole + fraction.padEnd(DECIMALS, '0'))
  return sign === '-' ? -value : value
}

export function msOf(ts: string): number {
  assert.match(ts, /^\d+$/)
  return Number(ts.slice(0, -6))
}

/** A bar of the stream or of a snapshot. */
export function candle(bar: Body): Candle {
  assert.ok(bar.ts.endsWith('000000'), `a bar starts at a whole millisecond: ${bar.ts}`)
  return { startMs: msOf(bar.ts), o: exact(bar.o), h: exact(bar.h), l: exact(bar.l), c: exact(bar.c), v: exact(bar.v) }
}

/** Trades in the order in which they came, as bars of `lengthMs`. */
export function fromTrades(trades: readonly Body[], lengthMs: number): readonly Candle[] {
  const pieces = trades.map(({ p, s, ts }) => {
    const price = exact(p)
    return { startMs: msOf(ts) - (msOf(ts) % lengthMs), o: price, h: price, l: price, c: price, v: exact(s) }
  })
  return grouped(pieces, ({ startMs }) => startMs)
}

/** Puts consecutive bars with the same key together; the first gives the start. */
export function grouped(bars: readonly Candle[], keyOf: (bar: Candle) => string | number): readonly Candle[] {
  const groups: Candle[] = []
  let last: string | number | null = null
  for (const bar of bars) {
    const key = keyOf(bar)
    const group = groups.at(-1)
    if (group === undefined || key !== last) groups.push(bar)
    else {
      const high = bar.h > group.h ? bar.h : group.h
      const low = bar.l < group.l ? bar.l : group.l
      groups[groups.length - 1] = { ...group, h: high, l: low, c: bar.c, v: group.v + bar.v }
    }
    last = key
  }
  return groups
}

/** Fails unless the bars ascend without a repeat and each holds together. */
export function assertBars(bars: readonly Candle[], what: string): void {
  for (const [index, { startMs, o, h, l, c, v }] of bars.entries()) {
    const before = bars[index - 1]
    assert.ok(
      before === undefined || before.startMs < startMs,
      `${what}: the bar of ${iso(startMs)} comes after that of ${iso(before?.startMs ?? 0)}`
    )
    assert.ok(l <= o && l <= c && o <= h && c <= h && l > 0n && v > 0n, `${what}: the bar of ${iso(startMs)} does not hold together`)
  }
}

/** Fails unless each bar starts where the one before ended. */
export function assertJoined(bars: readonly Candle[], lengthMs: number, what: string): void {
  assertBars(bars, what)
  for (const [index, { startMs }] of bars.entries()) {
    const before = bars[index - 1]
    if (before !== undefined) assert.equal(iso(startMs), iso(before.startMs + lengthMs), `${what}: a gap`)
  }
}

export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

const CLOCK = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  ...({
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    weekday: 'short'
  } as const)
})

/** New York's wall clock. */
export interface WallTime {
  /** YYYY-MM-DD */
  readonly day: string
  /** HH:MM:SS */
  readonly time: string
  readonly weekday: string
}

export function newYork(ms: number): WallTime {
  const part = Object.fromEntries(CLOCK.formatToParts(ms).map(({ type, value }) => [type, value]))
  return { day: `${part.year}-${part.month}-${part.day}`, time: `${part.hour}:${part.minute}:${part.second}`, weekday: part.weekday ?? '' }
}

/** The moment at which New York's clock shows this. */
export function inNewYork(day: string, time: string): number {
  const guess = Date.parse(`${day}T${time}Z`)
  const shown = newYork(guess)
  const offset = Date.parse(`${shown.day}T${shown.time}Z`) - guess
  const moment = guess - offset
  const again = newYork(moment)
  return again.day === day && again.time.startsWith(time) ? moment : moment + (guess - Date.parse(`${again.day}T${again.time}Z`))
}

/** Closed bars of a subscription, in the order in which they came. */
export function closedOf(client: MarketClient, subId: string): readonly Candle[] {
  return client
    .messages(subId)
    .filter(({ st }) => st === 'c')
    .map(candle)
}

/** Past bars by a snapshot, which must ascend and lie within the window. */
export async function past(
  client: MarketClient,
  symbol: string,
  interval: string,
  fromMs: number,
  toMs: number
): Promise<readonly Candle[]> {
  const data = await client.snapshot(symbol, interval, iso(fromMs), iso(toMs))
  const bars = data.map(candle)
  assertBars(bars, `${interval} of ${symbol}`)
  for (const { startMs } of bars) assert.ok(startMs >= fromMs && startMs < toMs, `${iso(startMs)} is outside the window`)
  return bars
}
