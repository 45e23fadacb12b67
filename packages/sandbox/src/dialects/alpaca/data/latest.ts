/** The latest quotes, and what a snapshot has of a symbol. */

import type { Answer } from '../../frame/brokerage.ts'
import type { Call } from '../../frame/router.ts'
import { Body } from '../body.ts'
import { jsonAnswer } from '../problems.ts'
import { symbolsIn } from './pages.ts'
import type { DataSource } from './source.ts'
import { barWire, type Kind, quoteWire, tradeWire } from './wire.ts'

/** How far back the last minute and the last days are looked for: over a long weekend. */
const BACK = 7 * 86_400_000_000

/** By symbol; those of which nothing is known are left out. */
export async function quotesOf(source: DataSource, kind: Kind, { request, fault }: Call): Promise<Answer> {
  if (fault?.do === 'empty') return jsonAnswer({ quotes: {} })
  const known = symbolsIn(new Body(request.query)).filter(symbol => source.find(symbol, kind) !== null)
  await source.bring(known)
  const quotes = known.map(symbol => [symbol, quoteOf(source, kind, source.find(symbol, kind)?.symbol ?? symbol)] as const)
  return jsonAnswer({ quotes: Object.fromEntries(quotes.filter(([, quote]) => quote !== null)) })
}

/** What there is of it; each part may be missing. */
export async function snapshotOf(source: DataSource, kind: Kind, symbol: string): Promise<object> {
  const [dailyBar, prevDailyBar] = (await source.newest(symbol, '1d', { count: 2, back: BACK })).toReversed().map(barWire)
  const minute = await source.lastBar(symbol, '1m', true, BACK)
  const print = await source.print(symbol)
  const parts = {
    latestTrade: print === null ? null : tradeWire(kind, print),
    latestQuote: quoteOf(source, kind, symbol),
    minuteBar: minute === null ? null : barWire(minute),
    dailyBar,
    prevDailyBar
  }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null && part !== undefined))
}

function quoteOf(source: DataSource, kind: Kind, symbol: string): object | null {
  const quote = source.quote(symbol)
  return quote === undefined ? null : quoteWire(kind, quote, source.letterOf(symbol))
}
