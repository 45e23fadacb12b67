/**
 * The history of an account: booked by night, by day, without order ids and without its own ids. Pure; throws Malformed and nothing else.
 */

import { createHash } from 'node:crypto'
import { compare, type Decimal, parseDecimal, ZERO } from '@trunkline/core/domain/decimal'
import { type Day, parseDay } from '@trunkline/core/domain/timestamp'
import type { TransactionType } from '@trunkline/core/domain/vocabulary'
import type { TransactionReport } from '@trunkline/core/ports/broker'
import { field, lookUp, object, text, type Wire } from '../kit/parse.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { CURRENCY } from './accounts.ts'
import { EVENTS, OPTION_EVENTS } from './enums.ts'
import { fromTradier, isOption } from './symbols.ts'
import { amountOrNull, displayTextOf, items, textOf } from './wire.ts'

/** What moves in with a positive amount moves out with a negative one. */
const OPPOSITE: { readonly [type in TransactionType]?: TransactionType } = { BUY: 'SELL', DEPOSIT: 'WITHDRAWAL' }

export function parseEvents(answer: Wire): readonly Wire[] {
  return items(answer, 'history', 'event')
}

/**
 * Newest first. An event's id is derived from its content and the number of equal ones before it, so that reading it again gives the same one
 * whatever the window.
 */
export function transactionsOf(events: readonly Wire[], unknownValues: UnknownValueCounter): readonly TransactionReport[] {
  const seen = new Map<string, number>()
  const dated = events.map(event => ({ event, day: dayOf(event) })).sort((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0))
  return dated.map(({ event, day }) => {
    const print = createHash('sha256').update(JSON.stringify(event)).digest('hex').slice(0, 24)
    const times = (seen.get(print) ?? 0) + 1
    seen.set(print, times)
    return transactionOf(event, day, `${day}-${print}-${times}`, unknownValues)
  })
}

function transactionOf(event: Wire, day: Day, brokerTransactionId: string, unknownValues: UnknownValueCounter): TransactionReport {
  const brokerType = text(event, 'type', 64)
  // The details beyond the amount are in an element named after the type.
  const detail = detailOf(event, brokerType)
  const sum = amountOrNull(event, 'amount')
  const symbol = textOf(detail, 'symbol')
  return {
    brokerAccountId: null,
    brokerTransactionId,
    type: typeOf(event, detail, sum, unknownValues),
    brokerType,
    symbol: symbol === null ? null : fromTradier(symbol),
    instrument: symbol === null ? null : isOption(symbol) ? 'OPT' : 'STK',
    quantity: unsigned(amountOrNull(detail, 'quantity')),
    price: amountOrNull(detail, 'price'),
    amount: sum,
    fees: amountOrNull(detail, 'commission'),
    currency: CURRENCY,
    day,
    settlementDay: null,
    brokerOrderId: null,
    description: displayTextOf(detail, 'description')
  }
}

function typeOf(event: Wire, detail: Wire, sum: Decimal | null, unknownValues: UnknownValueCounter): TransactionType {
  const type = unknownValues.or<TransactionType, 'OTHER'>(event, 'type', EVENTS, 'OTHER')
  if (field(event, 'type') === 'option') return lookUp(OPTION_EVENTS, displayTextOf(detail, 'option_type')?.toLowerCase()) ?? 'OTHER'
  const isOut = type === 'BUY' ? isSale(detail, sum) : sum !== null && compare(sum, ZERO) < 0
  return (isOut ? OPPOSITE[type] : undefined) ?? type
}

/** The type states the direction. */
function unsigned(quantity: Decimal | null): Decimal | null {
  return quantity === null ? null : parseDecimal(quantity.replace(/^-/, ''), 'quantity')
}

/** Paid for is bought; a quantity that is negative was sold whatever it brought. */
function isSale(detail: Wire, sum: Decimal | null): boolean {
  const quantity = amountOrNull(detail, 'quantity')
  if (quantity !== null && compare(quantity, ZERO) < 0) return true
  return sum !== null && compare(sum, ZERO) > 0
}

function detailOf(event: Wire, type: string): Wire {
  const detail = field(event, type)
  return detail === undefined || detail === null || detail === 'null' ? {} : object(detail, type)
}

/** Its time of day means nothing. */
function dayOf(event: Wire): Day {
  return parseDay(text(event, 'date', 40).slice(0, 10), 'date')
}
