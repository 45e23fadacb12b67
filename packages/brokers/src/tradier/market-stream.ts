/** Tradier's market stream: one list of symbols, one message a line, and old trades sent again while nothing happens. */

import { FlatReader } from '@trunkline/core/domain/fast/flat-json'
import { isNil } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { nanosOfMs } from '@trunkline/core/domain/market/records'
import { jsonWithNumbersAsText } from '../kit/json.ts'
import { msOf, sided, venueOf } from '../kit/market-values.ts'
import { decimal, displayTextOrNull, field, object, text, type Wire } from '../kit/parse.ts'
import { RecentTrades } from '../kit/repeated-trades.ts'
import type { FullListDefinition, SymbolSinks } from '../kit/runtime/full-list-feed.ts'
import { StreamFault } from '../kit/stream-fault.ts'
import { sized } from './market.ts'
import { amountOrNull, textOf } from './quirks.ts'
import { isOption } from './symbols.ts'

/** The sinks of a symbol, and which of its trades came last. */
export interface TradierSinks extends SymbolSinks {
  readonly isContract: boolean
  /** Every trade of an index has no size, and is its new level; of anything else it is no trade. */
  readonly isIndex: boolean
  readonly recent: RecentTrades
}

/** By Tradier's symbol. */
export type SinkTable = ReadonlyMap<string, TradierSinks>

/** All that is read of a message. */
const READER = new FlatReader(
  [
    ...['type', 'symbol', 'error'],
    ...['bid', 'bidsz', 'biddate', 'ask', 'asksz', 'askdate'],
    ...['exch', 'last', 'size', 'date', 'seq', 'cancel', 'correction']
  ],
  jsonWithNumbersAsText
)

export function tradierStream({
  url,
  session,
  quietMs
}: {
  /** Base of the stream's addresses; the one that an answer names is not followed. */
  readonly url: string
  /** Makes a new session. @throws BrokerFault */
  readonly session: (signal: AbortSignal) => Promise<string>
  readonly quietMs: number
}): FullListDefinition<TradierSinks> {
  return {
    async begin(signal) {
      const sessionid = await session(signal)
      const options = { filter: ['quote', 'timesale'], linebreak: true, validOnly: true, advancedDetails: false }
      return { url: `${url}/markets/events`, subscription: symbols => JSON.stringify({ symbols, sessionid, ...options }) }
    },
    quietMs,
    newSinks: newSymbolSinks,
    dispatch
  }
}

export function newSymbolSinks(quote: Wire): TradierSinks {
  const isContract = isOption(text(quote, 'symbol', 32))
  return { trades: null, quotes: null, isContract, isIndex: textOf(quote, 'type') === 'index', recent: new RecentTrades() }
}

/**
 * Hands on the content of a frame; kinds that were not requested and symbols that are not streamed are skipped. Returns the latest time in
 * it, milliseconds since the epoch, 0 for none. @throws Malformed
 */
export function dispatch(frame: string, table: SinkTable): number {
  const end = frame.indexOf('\n')
  // One message a frame nearly always, with the requested line break.
  if (end === -1 || end === frame.length - 1) return line(end === -1 ? frame : frame.slice(0, end), table)
  let presentMs = 0
  for (const each of frame.split('\n')) presentMs = Math.max(presentMs, line(each, table))
  return presentMs
}

function line(text: string, table: SinkTable): number {
  if (text === '' || text.trim() === '') return 0
  const message = object(READER.read(text), 'message')
  const complaint = field(message, 'type') === undefined ? displayTextOrNull(message, 'error') : null
  if (complaint !== null) throw new StreamFault('refused', `Tradier refused the market stream: ${complaint}`)
  return item(message, table)
}

function item(message: Wire, table: SinkTable): number {
  const type = field(message, 'type')
  if (type !== 'quote' && type !== 'timesale') {
    text(message, 'type', 32)
    return 0
  }
  const sinks = table.get(text(message, 'symbol', 32))
  if (sinks === undefined) return 0
  return type === 'quote' ? quote(message, sinks) : trade(message, sinks)
}

function quote(message: Wire, { quotes, isContract }: TradierSinks): number {
  if (quotes === null) return 0
  const atMs = Math.max(msOf(message, 'biddate'), msOf(message, 'askdate'))
  quotes.quote(
    sided({
      bidPrice: amountOrNull(message, 'bid'),
      bidSize: sized(amountOrNull(message, 'bidsz'), isContract),
      askPrice: amountOrNull(message, 'ask'),
      askSize: sized(amountOrNull(message, 'asksz'), isContract),
      at: nanosOfMs(atMs)
    })
  )
  return atMs
}

function trade(message: Wire, sinks: TradierSinks): number {
  if (sinks.trades === null) return 0
  const atMs = msOf(message, 'date')
  if (atMs === 0) throw new Malformed('date', 'a time in milliseconds', field(message, 'date'))
  const price = decimal(message, 'last')
  const size = decimal(message, 'size')
  // What is cancelled or corrected was sent before.
  if (isSet(message, 'cancel') || isSet(message, 'correction') || (isNil(size) && !sinks.isIndex)) return 0
  if (sinks.recent.isRepeated(`${String(field(message, 'seq'))} ${atMs} ${price} ${size}`, atMs)) return 0
  sinks.trades.trade({ price, size, venue: venueOf(field(message, 'exch')), at: nanosOfMs(atMs), effect: 'all' })
  return atMs
}

function isSet(message: Wire, key: string): boolean {
  const value = field(message, key)
  return value === true || value === 'true'
}
