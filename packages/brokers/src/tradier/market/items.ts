/** The market stream's frames in the core's terms, handed to their sinks as they arrive. */

import { FlatReader } from '@trunkline/core/domain/fast/flat-json'
import { isNil, isPlainText } from '@trunkline/core/domain/fast/scan'
import { Malformed } from '@trunkline/core/domain/malformed'
import { nanosOfMs } from '@trunkline/core/domain/market/records'
import type { TopicSink } from '@trunkline/core/ports/market'
import { jsonWithNumbersAsText } from '../../kit/json.ts'
import { decimal, displayTextOrNull, field, object, text, type Wire } from '../../kit/parse.ts'
import { isOption } from '../symbols.ts'
import { amountOrNull } from '../wire.ts'
import { msOf, sided, sized } from './quotes.ts'

/** Who streams what of a symbol, and which of its trades came last. */
export interface SymbolSinks {
  trades: TopicSink | null
  quotes: TopicSink | null
  readonly isContract: boolean
  /** The last {@link RECENT} trades, to know one that is sent again. */
  readonly recent: Set<string>
  newestMs: number
}

/** By Tradier's symbol. */
export type SinkTable = ReadonlyMap<string, SymbolSinks>

const RECENT = 64
/** Tradier repeats old trades while nothing happens; a trade that is so much older than the newest is one of them. */
const STALE_MS = 10_000
const VENUE_MAX = 16

/** All that is read of a message. */
const READER = new FlatReader(
  [
    ...['type', 'symbol', 'error'],
    ...['bid', 'bidsz', 'biddate', 'ask', 'asksz', 'askdate'],
    ...['exch', 'last', 'size', 'date', 'seq', 'cancel', 'correction']
  ],
  jsonWithNumbersAsText
)

export function newSymbolSinks(symbol: string): SymbolSinks {
  return { trades: null, quotes: null, isContract: isOption(symbol), recent: new Set(), newestMs: 0 }
}

/**
 * Hands on the content of a frame; kinds that were not requested and symbols that are not streamed are skipped. Returns the latest time in it, milliseconds
 * since the epoch, 0 for none. @throws Malformed
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
  if (complaint !== null) throw new StreamComplaint(complaint)
  return item(message, table)
}

/** Tradier's own message on the stream about why it will not go on. */
export class StreamComplaint extends Error {
  override readonly name = 'StreamComplaint'
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

function quote(message: Wire, { quotes, isContract }: SymbolSinks): number {
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

function trade(message: Wire, sinks: SymbolSinks): number {
  if (sinks.trades === null) return 0
  const atMs = msOf(message, 'date')
  if (atMs === 0) throw new Malformed('date', 'a time in milliseconds', field(message, 'date'))
  const price = decimal(message, 'last')
  const size = decimal(message, 'size')
  // What is cancelled or corrected was sent before; what has no size is no trade.
  if (isSet(message, 'cancel') || isSet(message, 'correction') || isNil(size)) return 0
  if (atMs < sinks.newestMs - STALE_MS) return 0
  const key = `${String(field(message, 'seq'))} ${atMs} ${price} ${size}`
  const { recent } = sinks
  if (recent.has(key)) return 0
  recent.add(key)
  if (recent.size > RECENT)
    for (const oldest of recent) {
      recent.delete(oldest)
      break
    }
  sinks.newestMs = Math.max(sinks.newestMs, atMs)
  sinks.trades.trade({ price, size, venue: venueOf(field(message, 'exch')), at: nanosOfMs(atMs), effect: 'all' })
  return atMs
}

function isSet(message: Wire, key: string): boolean {
  const value = field(message, key)
  return value === true || value === 'true'
}

/** A venue only describes: one that could not be written down as it is becomes an unknown one. */
function venueOf(value: unknown): string {
  return typeof value === 'string' && isPlainText(value, VENUE_MAX) ? value : ''
}
