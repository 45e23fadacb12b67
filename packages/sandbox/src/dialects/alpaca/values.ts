/** Alpaca's enum values, ids, symbols and instants. */

import { createHash } from 'node:crypto'
import type { OrderType, Side, TimeInForce, TransactionType } from '@trunkline/core/domain/vocabulary'
import { type InstrumentKind, isoOf, type Micros, NEW_YORK } from '../frame/brokerage.ts'

export const TYPES = { market: 'MKT', limit: 'LMT', stop: 'STP', stop_limit: 'STPLMT' } as const satisfies Record<string, OrderType>
export const TIMES_IN_FORCE = {
  ...{ day: 'DAY', gtc: 'GTC', opg: 'OPEN', cls: 'CLOSE', ioc: 'IOC', fok: 'FOK' }
} as const satisfies Record<string, TimeInForce>
export const INTENTS = {
  buy_to_open: 'BUY_TO_OPEN',
  buy_to_close: 'BUY_TO_CLOSE',
  sell_to_open: 'SELL_TO_OPEN',
  sell_to_close: 'SELL_TO_CLOSE'
} as const satisfies Record<string, Side>

/** Futures are not Alpaca's; its accounts never hold any. */
export const ASSET_CLASSES: Readonly<Record<InstrumentKind, string>> = {
  ...{ STK: 'us_equity', OPT: 'us_option', CRYPTO: 'crypto', FUT: 'future' }
}

export const ACTIVITIES: Readonly<Record<TransactionType, string>> = {
  ...{ BUY: 'FILL', SELL: 'FILL', DIVIDEND: 'DIV', INTEREST: 'INT', FEE: 'FEE', SPLIT: 'SPLIT' },
  ...{ DEPOSIT: 'CSD', WITHDRAWAL: 'CSW', TRANSFER: 'JNLC' },
  ...{ EXERCISE: 'OPEXC', ASSIGNMENT: 'OPASN', EXPIRATION: 'OPEXP', ADJUSTMENT: 'MISC', OTHER: 'MISC' }
}

/** Alpaca's name of one of our values; null: it has none. */
export function nameOf(table: Readonly<Record<string, string>>, value: string): string | null {
  return Object.keys(table).find(name => table[name] === value) ?? null
}

export function timeInForceOf(timeInForce: TimeInForce): string {
  return nameOf(TIMES_IN_FORCE, timeInForce.replace('+', '')) ?? 'day'
}

/** Positions of crypto are named without the slash that orders have. */
export function positionSymbol(symbol: string): string {
  return symbol.replace('/', '')
}

/** Ids that Alpaca has and the sandbox does not: the same UUID for the same text. */
export function uuidFor(text: string): string {
  const hex = createHash('sha256').update(`alpaca ${text}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** `2026-11-03T15:10:17.660000Z` with three places more, which the sandbox does not have: readers must not stumble over them. */
export function nanosOf(at: Micros): string {
  return `${isoOf(at).slice(0, -1)}001Z`
}

export function newYorkOf(at: Micros): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO(NEW_YORK)
}
