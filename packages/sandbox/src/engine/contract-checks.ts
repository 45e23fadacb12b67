/** The additional checks of orders in options and futures: the contract is live, and the side fits the position. */
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { Refusal } from './command-context.ts'
import { type Account, closes, type OrderBook } from './state.ts'
import type { Micros } from './types.ts'
import { abs, formatScaled, max, type Quantity } from './units.ts'

/** Whether the account may trade the contract now. */
export function checkContract(account: Account, book: OrderBook, now: Micros): Refusal | null {
  const { kind, currency } = book.spec.source
  if (!account.permitted.includes(kind)) {
    return {
      code: 'instrument_not_permitted',
      message: `This ${account.accountType} account may not trade ${book.symbol}; it has no permission for ${kind}.`
    }
  }
  if (currency !== account.currency) {
    const message = `${book.symbol} trades in ${currency}, but the account's currency is ${account.currency}.`
    return { code: 'instrument_not_permitted', message }
  }
  if (kind === 'FUT' && account.accountType !== 'futures' && account.accountType !== 'margin')
    return { code: 'instrument_not_permitted', message: `Futures need margin; a ${account.accountType} account has none.` }
  const ends = book.spec.option?.lastTradeAt ?? book.spec.future?.lastTradeAt ?? Number.POSITIVE_INFINITY
  return book.over || now >= ends ? { code: 'expired_contract', message: `${book.symbol} has ended; it no longer trades.` } : null
}

/**
 * Whether an option order's side fits the account. Opening needs a position on the same side or none; closing needs enough to close beyond
 * what other closing orders take. An account never has both sides of a contract, even in live orders, so a closing order can always close.
 */
export function checkEffect(
  account: Account,
  { book, side, units }: { readonly book: OrderBook; readonly side: Side; readonly units: Quantity }
): Refusal | null {
  const holding = account.holdings.get(book.symbol)
  const buy = side === 'BUY_TO_OPEN' || side === 'BUY_TO_CLOSE'
  // Signed as the order's side: positive adds to the position, negative reduces it.
  const held = buy ? (holding?.quantity ?? 0n) : -(holding?.quantity ?? 0n)
  if (closes(side)) {
    const others = (buy ? holding?.buys : holding?.sells)?.quantity ?? 0n
    const available = max(0n, -held - others)
    if (units <= available) return null
    return {
      code: 'insufficient_position',
      message: `${formatScaled(available)} ${book.symbol} can be closed (open orders counted); the order is for ${formatScaled(units)}.`
    }
  }
  const facing = (buy ? holding?.sells : holding?.buys)?.quantity ?? 0n
  if (held > 0n || (held === 0n && facing === 0n)) return null
  const there = held < 0n ? `holds ${formatScaled(abs(held))} on the other side` : 'has an open order for the other side'
  return { code: 'unsupported_side', message: `The account ${there} of ${book.symbol}; close or cancel that before ${side}.` }
}
