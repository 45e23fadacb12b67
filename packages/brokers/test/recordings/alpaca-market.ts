/** How recorded market data of Alpaca is put through its adapter. */

import { midnight, type TradingCalendar } from '@trunkline/core/domain/calendar/index'
import { areEqual, parseDecimal, sum } from '@trunkline/core/domain/decimal'
import type { Bar } from '@trunkline/core/domain/market/records'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { barsOf } from './bars.ts'
import { MarketEvents } from './collect.ts'
import { barFacts, type Facts, quoteFacts, tradeFacts } from './facts.ts'
import { type Json, numberIn, type Recording, type Step } from './load.ts'
import { pathOf, Replay, reply } from './replay.ts'
import { signal } from './ticket.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const INTERVALS: { readonly [timeframe: string]: string } = {
  '1Min': '1m',
  '5Min': '5m',
  '15Min': '15m',
  '30Min': '30m',
  '1Hour': '1h',
  '1Day': '1d'
}

/** Null for what is not market data. */
export async function marketFacts({ steps }: Recording, path: string): Promise<Facts | null> {
  const [step] = steps
  if (step === undefined) return null
  if (step.method === 'WS' && path !== '/stream') return await streamFacts(steps)
  if (path === '/v2/clock') return await clockFacts(step)
  if (path.endsWith('/bars')) return await barsFacts(step)
  if (path.endsWith('/crypto/us/snapshots')) return await snapshotFacts(step)
  if (path.endsWith('/crypto/us/trades')) return await tradesFacts(steps)
  return null
}

async function opened(now = new Date().toISOString()): Promise<Replay> {
  const replay = await Replay.open('ALPACA', { access_token: 'token-1' })
  replay.on('GET /v2/clock', reply({ timestamp: now, is_open: true, next_open: now, next_close: now }))
  replay.on('GET /v2/assets/*', ({ path }) => {
    const symbol = pathOf(path).split('/assets/')[1] ?? ''
    return reply({ id: 'asset-1', class: symbol.includes('/') ? 'crypto' : 'us_equity', symbol, status: 'active', tradable: true })
  })
  return replay
}

async function clockFacts({ body }: Step): Promise<Facts> {
  await using replay = await opened()
  replay.on('GET /v2/clock', { status: 200, body })
  const { market } = replay
  const instrument = await market.instrument('SPY', signal())
  const now = market.presentMs()
  const calendar = instrument?.calendar
  return calendar === undefined ? {} : { now, open: calendar.phaseAt(now) === 'open', next_open: nextOpen(calendar, now) }
}

function nextOpen(calendar: TradingCalendar, now: number): string {
  for (let date = calendar.dateAt(now); ; date = calendar.nextTradingDay(date)) {
    const span = calendar.spansOn(date).find(({ phase, start }) => phase === 'open' && start > now)
    if (span !== undefined) return timestampOfMs(span.start)
  }
}

async function barsFacts({ path, status, body, payload }: Step): Promise<Facts> {
  await using replay = await opened()
  const asked = new URLSearchParams((path ?? '').split('?')[1])
  const interval = INTERVALS[asked.get('timeframe') ?? ''] ?? '1d'
  const [symbol, rows]: Json = Object.entries(payload.bars ?? {})[0] ?? [asked.get('symbols') ?? '', []]
  replay.on(`GET ${pathOf(path ?? '')}`, ({ query }) => (query.has('page_token') ? reply({ bars: {} }) : { status: status ?? 200, body }))
  const times = rows.map((row: Json) => Date.parse(row.t))
  const bars = await barsOf(replay.market, { symbol, interval, fromMs: Math.min(...times), toMs: Math.max(...times) + 1 })
  const isAdjusted = bars.some((bar, index) => !areEqual(bar.close, parseDecimal(numberIn(rows[index]?.c), 'close')))
  return { bars: bars.map(bar => barFacts(bar)), first: bars.map(bar => barFacts(bar))[0], adjusted: isAdjusted }
}

/** Its daily bars as the history has them, and the day of its last trade by the calendar of the pair. */
async function snapshotFacts({ payload }: Step): Promise<Facts> {
  await using replay = await opened()
  const all: readonly [string, Json][] = Object.entries(payload.snapshots)
  const starts: string[] = []
  for (const [symbol, { dailyBar, prevDailyBar, latestTrade }] of all) {
    const rows = [prevDailyBar, dailyBar].map((row: Json) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, key === 't' ? value : Number(numberIn(value))]))
    )
    replay.on('GET /v1beta3/crypto/us/bars', reply({ bars: { [symbol]: rows }, next_page_token: null }))
    const fromMs = Date.parse(prevDailyBar.t)
    const bars = await barsOf(replay.market, { symbol, interval: '1d', fromMs, toMs: fromMs + 3 * DAY_MS })
    const calendar = (await replay.market.instrument(symbol, signal()))?.calendar
    if (calendar === undefined || bars.length !== rows.length) throw new Error(`${bars.length} bars of ${symbol} were read`)
    starts.push(timestampOfMs(midnight(calendar.dateAt(Date.parse(latestTrade.t)), calendar.zone)))
  }
  return { daily_bar_start: starts }
}

/**
 * Trades are read for the minute that is under way: each minute of the recording is made the present one. All are there if their sizes add
 * up.
 */
async function tradesFacts(steps: readonly Step[]): Promise<Facts> {
  const counts: Record<string, number> = {}
  let pages = 0
  const rows: readonly (readonly [string, Json])[] = steps.flatMap(({ payload }) =>
    Object.entries<Json>(payload.trades ?? {}).flatMap(([symbol, trades]) => trades.map((trade: Json) => [symbol, trade]))
  )
  for (const symbol of new Set(rows.map(([of]) => of))) {
    const own = rows.filter(([of]) => of === symbol).map(([, trade]) => trade)
    const minutes = [...new Set(own.map(({ t }: Json) => Math.floor(Date.parse(t) / MINUTE_MS) * MINUTE_MS))]
    const read = await Promise.all(minutes.map(minute => minuteOf(steps, symbol, minute)))
    pages = Math.max(pages, ...read.map(each => each.pages))
    const total = sum(own.map(({ s }: Json) => parseDecimal(numberIn(s), 'size')))
    counts[symbol] = areEqual(sum(read.flatMap(({ bars }) => bars.map(({ volume }) => volume))), total) ? own.length : -1
  }
  return { trades: counts, pages }
}

async function minuteOf(
  steps: readonly Step[],
  symbol: string,
  startMs: number
): Promise<{ readonly bars: readonly Bar[]; readonly pages: number }> {
  await using replay = await opened(new Date(startMs + MINUTE_MS / 2).toISOString())
  const tokens = [null, ...steps.map(({ payload }) => payload.next_page_token)]
  replay.on('GET /v1beta3/crypto/us/bars', reply({ bars: {}, next_page_token: null }))
  replay.on('GET /v1beta3/crypto/us/trades', ({ query }) => ({
    status: 200,
    body: steps[tokens.indexOf(query.get('page_token'))]?.body ?? '{}'
  }))
  const bars = await barsOf(replay.market, { symbol, interval: '1m', fromMs: startMs, toMs: startMs + MINUTE_MS })
  return { bars, pages: replay.seen('GET /v1beta3/crypto/us/trades').length }
}

/** A market stream: the frames of the login are ours, and each other frame follows once every symbol of the recording is streamed. */
async function streamFacts(steps: readonly Step[]): Promise<Facts> {
  const items: readonly Json[] = steps.flatMap(({ payload }) => [payload].flat())
  const symbols = [...new Set(items.flatMap(({ S }) => (typeof S === 'string' ? [S] : [])))]
  await using replay = await opened()
  let send = (_frame: string): void => undefined
  replay.onSocket(
    (text, socket) => {
      const { action, ...lists }: Json = JSON.parse(text)
      socket.send(JSON.stringify([action === 'auth' ? { T: 'success', msg: 'authenticated' } : { T: 'subscription', ...lists }]))
      send = frame => socket.send(frame)
    },
    socket => socket.send(JSON.stringify([{ T: 'success', msg: 'connected' }]))
  )
  using events = new MarketEvents(replay.market, symbols)
  await events.live()
  for (const { body } of steps) send(body)
  await events.quiet()
  return { trades: events.trades.map(tradeFacts), quotes: events.quotes.map(quoteFacts) }
}
