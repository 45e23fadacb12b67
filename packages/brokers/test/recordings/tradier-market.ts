/** How recorded market data of Tradier is put through its adapter. */

import { MarketEvents } from './collect.ts'
import { InPart, Unreported } from './compare.ts'
import { type Facts, quoteFacts, tradeFacts } from './facts.ts'
import { type Json, numberIn, type Step, written } from './load.ts'
import { barsAround, chainOf, expirationsOf } from './reads.ts'
import { Replay, reply } from './replay.ts'
import { signal } from './ticket.ts'

async function opened(quotes: readonly Json[], nowMs = Date.now()): Promise<Replay> {
  const replay = await Replay.open('TRADIER')
  const clock = {
    date: '2026-01-05',
    state: 'open',
    timestamp: Math.floor(nowMs / 1_000),
    next_change: '16:00',
    next_state: 'postmarket'
  }
  replay.on('GET /v1/markets/clock', reply({ clock }))
  replay.on('POST /v1/markets/quotes', { status: 200, body: written({ quotes: { quote: quotes } }) })
  replay.on(
    'POST /v1/markets/events/session',
    reply({ stream: { url: 'https://stream.tradier.com/v1/markets/events', sessionid: 'session-1' } })
  )
  return replay
}

/** The sessions of a day are the calendar's. */
export async function clockFacts({ body }: Step): Promise<Facts> {
  await using replay = await opened([quoteOf('SPY')])
  replay.on('GET /v1/markets/clock', { status: 200, body })
  const instrument = await replay.market.instrument('SPY', signal())
  const now = replay.market.presentMs()
  const next = new Unreported('sessions are those of the exchange calendar')
  return { now, open: instrument?.calendar.phaseAt(now) === 'open', next_change: next }
}

/** Null for what is not market data. */
export async function marketFacts({ path: asked, status, body, payload }: Step, path: string): Promise<Facts | null> {
  const query = new URLSearchParams((asked ?? '').split('?')[1])
  const symbol = query.get('symbol') ?? 'SPY'
  const answer = { status: status ?? 200, body }
  const rows: readonly Json[] = [payload?.history?.day ?? payload?.series?.data ?? []].flat()
  const times = rows.map((row: Json) => (row.timestamp === undefined ? Date.parse(row.date) : Number(numberIn(row.timestamp)) * 1_000))
  await using replay = await opened([quoteOf(symbol)], times.length === 0 ? Date.now() : Math.max(...times))
  replay.on(`GET ${path}`, answer)
  if (path === '/v1/markets/history') return await barsAround(replay.market, symbol, '1d', times)
  if (path === '/v1/markets/timesales')
    return await barsAround(replay.market, symbol, (query.get('interval') ?? '1min').slice(0, -2), times)
  if (path === '/v1/markets/options/expirations') return await expirationsOf(replay.market, symbol)
  if (path !== '/v1/markets/options/chains') return null
  return await chainOf(replay.market, symbol, query.get('expiration') ?? payload.options?.option?.[0]?.expiration_date)
}

export async function quotesFacts({ body, payload }: Step): Promise<Facts> {
  const [{ symbol }]: readonly Json[] = [payload.quotes.quote].flat()
  await using replay = await opened([])
  replay.on('POST /v1/markets/quotes', { status: 200, body })
  replay.on(
    'GET /v1/accounts/*',
    reply({ positions: { position: { symbol, quantity: 1, cost_basis: 1, id: 1, date_acquired: '2015-08-24T00:00:00Z' } } })
  )
  replay.onSocket(() => undefined)
  const [position] = (await replay.broker.positions('6YA00001', signal())).items
  using events = new MarketEvents(replay.market, [symbol])
  await events.live()
  const [quote] = events.quotes
  const open = new Unreported('a quote has no prices of the day')
  return { symbol: quote?.symbol, bid: quote?.bidPrice, ask: quote?.askPrice, last: position?.lastPrice, open }
}

/** Frames of kinds that the adapter does not ask for are not sent to it; a trade among no time sales comes as one. */
export async function streamFacts(steps: readonly Step[]): Promise<Facts> {
  const symbols = [...new Set(steps.map(({ payload }) => String(payload.symbol)))]
  await using replay = await opened(symbols.map(quoteOf))
  let asked: readonly string[] = []
  let send = (_line: string): void => undefined
  replay.onSocket((text, socket) => {
    const { filter, symbols: wanted }: Json = JSON.parse(text)
    if (wanted?.length > 0) asked = filter ?? []
    send = line => socket.send(`${line}\n`)
  })
  using events = new MarketEvents(replay.market, symbols)
  await events.live()
  await events.quiet()
  const [trades, quotes] = [events.trades.length, events.quotes.length]
  const hasSales = steps.some(({ payload }) => payload.type === 'timesale')
  const sent = steps.flatMap(({ payload }) =>
    asked.includes(payload.type) ? [payload] : hasSales || payload.type !== 'trade' ? [] : [saleOf(payload)]
  )
  for (const frame of sent) send(written(frame))
  await events.quiet()
  const found = events.trades.slice(trades).map(tradeFacts)
  const isWhole = asked.includes('trade') || !hasSales
  return {
    trades: isWhole ? found : new InPart(found, sent.filter(({ type }) => type === 'timesale').length),
    quotes: events.quotes.slice(quotes).map(quoteFacts),
    last_price: new Unreported('last prices come with positions')
  }
}

function saleOf({ symbol, exch, price, size, date }: Json): Json {
  return {
    type: 'timesale',
    ...{ symbol, exch, size, date },
    bid: price,
    ask: price,
    last: price,
    seq: 1,
    flag: '',
    cancel: false,
    correction: false,
    session: 'normal'
  }
}

function quoteOf(symbol: string): Json {
  const at = Date.now()
  const prices = { last: 100, bid: 99, bidsize: 1, bid_date: at, ask: 101, asksize: 1, ask_date: at, trade_date: at }
  return { symbol, description: symbol, exch: 'Q', type: 'stock', ...prices }
}
