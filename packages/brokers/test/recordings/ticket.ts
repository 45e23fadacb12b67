/** What every reader of recordings needs to ask an adapter. */

import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'

const PATIENCE_MS = 10_000

export const LONG_AGO = parseTimestamp('2000-01-01T00:00:00Z', 'since')

export const signal = () => AbortSignal.timeout(PATIENCE_MS)

/** Some order, where a recording has an answer to one and not the order itself. */
export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'KO',
  instrument: 'STK',
  quantity: parseDecimal('1', 'quantity'),
  notional: null,
  limitPrice: parseDecimal('80', 'limit price'),
  stopPrice: null,
  legs: null
}
