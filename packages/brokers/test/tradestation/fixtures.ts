/** Answers and lines of TradeStation, by name. */

import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { HttpReply } from '../../src/kit/http.ts'
import { readObject } from '../../src/kit/json.ts'
import type { Wire } from '../../src/kit/parse.ts'
import { Fixtures, type Json, unknownValuesOf } from '../support/fixtures.ts'

export type { Json } from '../support/fixtures.ts'

export const ACCOUNT = '11111111'
export const NOW = parseTimestamp('2026-11-20T15:00:09Z', 'now')

const FIXTURES = new Fixtures('tradestation')
export const fixtureNames = (): readonly string[] => FIXTURES.names
export const unread = (isPart: (name: string) => boolean): readonly string[] => FIXTURES.unread(isPart)
export const fixture = (name: string): Json => FIXTURES.read(name)
export const reply = (name: string): HttpReply => FIXTURES.reply(name)
/** As the adapter reads it. */
export const wire = (name: string): Wire => readObject(reply(name).body)
export const unknownValueCounter = () => unknownValuesOf('TRADESTATION')

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'MSFT',
  instrument: 'STK',
  quantity: parseDecimal('10', 'quantity'),
  notional: null,
  limitPrice: parseDecimal('400', 'limit'),
  stopPrice: null,
  legs: null
}
