/** Answers and messages of Alpaca, by name. */

import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { HttpReply } from '../../src/kit/http.ts'
import { object, type Wire } from '../../src/kit/parse.ts'
import { Fixtures, type Json, unknownValuesOf } from '../support/fixtures.ts'

export type { Json } from '../support/fixtures.ts'

export const ACCOUNT = '7c0e7b8e-5f0a-4f0e-9d6e-3b1f8a2c4d10'

const FIXTURES = new Fixtures('alpaca')
export const fixtureNames = (): readonly string[] => FIXTURES.names
export const unread = (isPart: (name: string) => boolean): readonly string[] => FIXTURES.unread(isPart)
export const fixture = (name: string): Json => FIXTURES.read(name)
export const bodyText = (name: string): string => FIXTURES.bodyText(name)
export const reply = (name: string): HttpReply => FIXTURES.reply(name)
export const wire = (name: string): Wire => object(fixture(name).body, name)
export const unknownValueCounter = () => unknownValuesOf('ALPACA')

export const dec = (text: string) => parseDecimal(text, 'a test')

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'AAPL',
  instrument: 'STK',
  quantity: dec('2'),
  notional: null,
  limitPrice: dec('150.25'),
  stopPrice: null,
  legs: null
}

export const SPREAD: OrderTicket = {
  ...TICKET,
  side: 'SELL',
  symbol: null,
  instrument: 'MLEG_OPT',
  quantity: dec('1'),
  limitPrice: dec('0.85'),
  legs: [
    { symbol: 'AAPL261218C00250000', side: 'SELL_TO_OPEN', ratio: dec('1'), fills: [] },
    { symbol: 'AAPL261218C00260000', side: 'BUY_TO_OPEN', ratio: dec('1'), fills: [] }
  ]
}
