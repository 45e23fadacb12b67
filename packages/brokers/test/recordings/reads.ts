/** What reads report that every broker has. */

import { parseDay } from '@trunkline/core/domain/timestamp'
import type { Broker } from '@trunkline/core/ports/broker'
import type { MarketSource } from '@trunkline/core/ports/market'
import { barsOf } from './bars.ts'
import { balanceFacts, barFacts, type Facts, faultFacts, positionFacts } from './facts.ts'
import { signal } from './ticket.ts'

const DAY_MS = 86_400_000

/** What `read` reports; where the broker's answer is none, the fault that the adapter concludes. */
export async function orFault(read: () => Promise<Facts>): Promise<Facts> {
  try {
    return await read()
  } catch (error) {
    return faultFacts(error)
  }
}

export function accountsOf(broker: Broker): Promise<Facts> {
  return orFault(async () => {
    const { items: accounts } = await broker.accounts(signal())
    return { accounts, types: accounts.map(({ accountType }) => accountType) }
  })
}

export function balancesOf(broker: Broker, account: string): Promise<Facts> {
  return orFault(async () => {
    const balances = (await broker.balances(account, signal())).items.map(balanceFacts)
    return { balances, balance: balances[0] }
  })
}

export function positionsOf(broker: Broker, account: string): Promise<Facts> {
  return orFault(async () => ({ positions: (await broker.positions(account, signal())).items.map(positionFacts) }))
}

/** All bars around the recorded times; of the last days where none is recorded. */
export function barsAround(market: MarketSource, symbol: string, interval: string, times: readonly number[]): Promise<Facts> {
  const [from, to] = times.length === 0 ? [Date.now(), Date.now()] : [Math.min(...times), Math.max(...times)]
  return orFault(async () => {
    const calendar = (await market.instrument(symbol, signal()))?.calendar
    const bars = await barsOf(market, { symbol, interval, fromMs: from - 2 * DAY_MS, toMs: to + DAY_MS })
    const facts = bars.map(bar => barFacts(bar, calendar))
    return { bars: facts, first: facts[0], last: facts.at(-1) }
  })
}

export function expirationsOf(market: MarketSource, underlying: string): Promise<Facts> {
  return orFault(async () => {
    const days = await market.expirations(underlying, signal())
    return { expirations: days, first: days[0], last: days.at(-1), monthly_on_thursday: new Set(days) }
  })
}

export function chainOf(market: MarketSource, underlying: string, day: string): Promise<Facts> {
  return orFault(async () => {
    const chain = await market.chain(underlying, parseDay(day, 'expiration'), signal())
    return { chain: chain.map(entry => ({ ...entry, ...entry.greeks })), contracts: chain.length }
  })
}
