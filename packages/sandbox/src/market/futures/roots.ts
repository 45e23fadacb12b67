/** The futures roots that the sandbox lists, with their terms. */

export const ROOTS = ['ES', 'NQ', 'CL', 'GC'] as const
export type Root = (typeof ROOTS)[number]

export interface RootFacts {
  readonly name: string
  readonly exchange: string
  /** Money per point of the price. */
  readonly multiplier: string
  readonly tick: string
  /** Listed months of the year, and the number listed at the same time. */
  readonly months: 'quarterly' | 'monthly'
  readonly listed: number
  /** See `months.ts`. */
  readonly lastTrade: 'third-friday' | 'crude-oil' | 'gold'
  /** Money per contract, as required by the exchanges' clearing house on 2020-01-31. It publishes margins with their first day. */
  readonly initialMargin: string
  readonly maintenanceMargin: string
}

export const ROOT_FACTS: { readonly [Name in Root]: RootFacts } = {
  ES: {
    name: 'E-mini S&P 500',
    exchange: 'CME',
    multiplier: '50',
    tick: '0.25',
    months: 'quarterly',
    listed: 5,
    lastTrade: 'third-friday',
    initialMargin: '7260',
    maintenanceMargin: '6600'
  },
  NQ: {
    name: 'E-mini Nasdaq-100',
    exchange: 'CME',
    multiplier: '20',
    tick: '0.25',
    months: 'quarterly',
    listed: 5,
    lastTrade: 'third-friday',
    initialMargin: '8250',
    maintenanceMargin: '7500'
  },
  CL: {
    name: 'WTI Crude Oil',
    exchange: 'NYMEX',
    multiplier: '1000',
    tick: '0.01',
    months: 'monthly',
    listed: 9,
    lastTrade: 'crude-oil',
    initialMargin: '3850',
    maintenanceMargin: '3500'
  },
  GC: {
    name: 'Gold',
    exchange: 'COMEX',
    multiplier: '100',
    tick: '0.1',
    months: 'monthly',
    listed: 6,
    lastTrade: 'gold',
    initialMargin: '5500',
    maintenanceMargin: '5000'
  }
}
