/** Captured answers of the sandbox, by name. */

import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { HttpReply } from '../../src/kit/http.ts'
import { Fixtures } from '../support/fixtures.ts'

export interface Fixture {
  readonly origin: string
  readonly captured: string
  readonly status: number
  readonly body: { readonly [key: string]: unknown }
}

const FIXTURES = new Fixtures('sandbox')
export const fixtureNames = (): readonly string[] => FIXTURES.names
export const fixture = (name: string): Fixture => FIXTURES.read(name)
export const reply = (name: string): HttpReply => FIXTURES.reply(name)

/** The parts of the sandbox that have separate tests, by the first word of a fixture's name; the others are `orders`. */
export type FixturePart = 'orders' | 'contract' | 'market'

export function unreadFixtures(part: FixturePart): readonly string[] {
  return FIXTURES.unread(name => partOf(name) === part)
}

function partOf(name: string): FixturePart {
  const [group] = name.split('.')
  return group === 'contract' || group === 'market' ? group : 'orders'
}

export const MARGIN = 'acc-61799f0d269fa78f'

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'SPY',
  instrument: 'STK',
  quantity: parseDecimal('5', 'quantity'),
  notional: null,
  limitPrice: parseDecimal('610.00', 'limit'),
  stopPrice: null,
  legs: null
}
