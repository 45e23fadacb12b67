/** A sandbox with SPY near 500, and a customer who trades its options. */

import type { Brokerage } from '../../src/brokerage/start.ts'
import { Customer, control, type Wire } from './support.ts'

const EXPIRATION_DAYS = { soonest: 0, later: 2 } as const

export interface Stage {
  readonly brokerage: Brokerage
  readonly alex: Customer
  readonly expiration: string
  /** Calls by strike, ascending, with a strike at 500 among them. */
  readonly calls: readonly Wire[]
  readonly puts: readonly Wire[]
}

/** A sandbox with SPY at 500 and one of its chains. */
export async function stage(brokerage: Brokerage, which: keyof typeof EXPIRATION_DAYS = 'soonest'): Promise<Stage> {
  const alex = await Customer.of(brokerage)
  // Options follow their underlying with their next update.
  const { clock } = await control(brokerage, 'PUT', '/clock', { advance_ms: 5_000 })
  const { items } = (await alex.call('GET', '/expirations?underlying=SPY')).body
  // In the last days of a contract there are no bids for options out of the money.
  const from = Date.parse(clock.sandbox_time) + 7 * 86_400_000
  const { expiration } = items.filter((item: Wire) => Date.parse(item.expiration) >= from)[EXPIRATION_DAYS[which]]
  const chain = (await alex.call('GET', `/chain?underlying=SPY&expiration=${expiration}`)).body.items
  return {
    brokerage,
    alex,
    expiration,
    calls: chain.filter(({ right }: Wire) => right === 'call'),
    puts: chain.filter(({ right }: Wire) => right === 'put')
  }
}

/** The row with the nearest strike. */
export const near = (rows: readonly Wire[], strike: number): Wire =>
  rows.toSorted((a, b) => Math.abs(a.strike - strike) - Math.abs(b.strike - strike))[0]

export const option = (alex: Customer, symbol: string, ticket: Wire = {}) =>
  alex.submit({ symbol, kind: 'market', lifetime: 'day', limit: null, quantity: '2', effect: 'open', ...ticket })

export const held = async (alex: Customer): Promise<Record<string, string>> =>
  Object.fromEntries((await alex.call('GET', '/positions')).body.items.map(({ symbol, quantity }: Wire) => [symbol, quantity]))
