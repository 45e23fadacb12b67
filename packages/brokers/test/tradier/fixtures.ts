/** Answers of Tradier's as its reference describes them, by name. */

import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { HttpReply } from '../../src/kit/http.ts'
import { readObject } from '../../src/kit/json.ts'
import type { Wire } from '../../src/kit/parse.ts'
import { Fixtures } from '../support/fixtures.ts'

const FIXTURES = new Fixtures('tradier')
const MARKET = /^(?:bars|chain|clock|expirations|market|quotes)\b/

export const fixtureNames = (): readonly string[] => FIXTURES.names

/** Of previews, of the market or of all else: they are read by tests apart. */
export function unreadFixtures(part: 'account' | 'market' | 'preview'): readonly string[] {
  return FIXTURES.unread(name => partOf(name) === part)
}

function partOf(name: string): 'account' | 'market' | 'preview' {
  return name.startsWith('preview.') ? 'preview' : MARKET.test(name) ? 'market' : 'account'
}

/** A fixture as it comes over the wire: text, of which not all is JSON. */
export function reply(name: string): HttpReply {
  const { status, text } = FIXTURES.read(name)
  return { status, headers: {}, body: text }
}

export const answer = (name: string): Wire => readObject(reply(name).body)

export const decimal = (text: string) => parseDecimal(text, 'test')

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'AAPL',
  instrument: 'STK',
  quantity: decimal('40'),
  notional: null,
  limitPrice: decimal('220.00'),
  stopPrice: null,
  legs: null
}

export const MULTI_LEG: OrderTicket = {
  ...TICKET,
  symbol: null,
  instrument: 'MLEG_OPT',
  quantity: decimal('2'),
  limitPrice: decimal('1.20'),
  legs: [
    { symbol: 'SPY261218C00600000', side: 'BUY_TO_OPEN', ratio: decimal('1'), fills: [] },
    { symbol: 'SPY261218C00610000', side: 'SELL_TO_OPEN', ratio: decimal('2'), fills: [] }
  ]
}
