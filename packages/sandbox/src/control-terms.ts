// The words of the control API, and the rules for values that it refuses. The service's API for operators reads them here too, so that both
// offer the same and refuse the same. Nothing of the sandbox itself is needed for it.
import { compare, type Decimal } from '@trunkline/core/domain/decimal'

/** What a fault does to a request. */
export const FAULT_KINDS = [
  ...(['lose_answer', 'reset', 'hang', 'delay', 'status', 'html', 'truncate', 'garbage'] as const),
  ...(['refuse', 'refuse_later', 'slow', 'empty', 'lose_page', 'spoil', 'hide', 'place'] as const)
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

/** What happens to open streams. */
export const STREAM_FAULTS = ['drop', 'mute', 'delay', 'duplicate', 'reorder', 'lose', 'garble', 'normal'] as const
export type StreamFault = (typeof STREAM_FAULTS)[number]
export const STREAM_KINDS = ['account', 'market'] as const

export const ACCOUNT_KINDS = ['margin', 'cash', 'coin', 'futures'] as const
export type AccountKind = (typeof ACCOUNT_KINDS)[number]

export const ASSET_CLASSES = ['share', 'coin', 'option', 'future'] as const
export type AssetClass = (typeof ASSET_CLASSES)[number]

/** A market's phase; `calendar`: the one of its own hours. */
export const PHASES = ['open', 'pre', 'post', 'closed', 'calendar'] as const

/** A regular expression of JSON Schema. `.` and `..` are steps between the parts of a path: nothing below such a name can be reached. */
export const USERNAME_PATTERN = '^(?!\\.{1,2}$)[\\x20-\\x7e]{1,64}$'
export const USERNAME_EXPECTED = '1 to 64 printable ASCII characters, and not "." or ".."'

/** The codes with which an end of a WebSocket can close it (RFC 6455, 7.4): the others name what no end says, or nothing. */
export const CLOSE_CODES = [
  [1000, 1003],
  [1007, 1014],
  [3000, 4999]
] as const
export const CLOSE_CODE_EXPECTED = `a code that a socket can be closed with: ${CLOSE_CODES.map(([from, to]) => `${from} to ${to}`).join(', ')}`

/** Whether a socket can be closed with it. */
export function isCloseCode(code: number): boolean {
  return CLOSE_CODES.some(([from, to]) => code >= from && code <= to)
}

/** What a message says of a book whose best bid reaches its best ask, at which nothing could rest; null for any other book. */
export function crossing(bids: readonly Decimal[], asks: readonly Decimal[]): string | null {
  const bid = bids.reduce<Decimal | null>((best, each) => (best === null || compare(each, best) > 0 ? each : best), null)
  const ask = asks.reduce<Decimal | null>((best, each) => (best === null || compare(each, best) < 0 ? each : best), null)
  if (bid === null || ask === null || compare(bid, ask) < 0) return null
  return `must be below all asks, was ${bid} with an ask of ${ask}`
}

/** What a message says of levels that are not best first, each at a price of its own; null where they are. */
export function misorder(side: 'bids' | 'asks', prices: readonly Decimal[]): string | null {
  const sign = side === 'bids' ? -1 : 1
  const index = prices.findIndex((price, at) => at > 0 && compare(price, prices[at - 1] ?? price) * sign <= 0)
  if (index === -1) return null
  return `must be best first, each price once: ${prices[index - 1]} comes before ${prices[index]}`
}
