/** The underlyings of synthetic options, and how the options of each are quoted. */
import type { SurfaceShape } from './surface.ts'

export interface Underlying {
  readonly symbol: string
  readonly name: string
  /** The symbol whose walk its price follows, and the number of its own ticks (0.01) per tick of that. */
  readonly follows: string
  readonly ratio: number
  readonly style: 'american' | 'european'
  readonly settlement: 'physical' | 'cash'
  /** Per year, continuously compounded. */
  readonly dividend: number
  readonly surface: SurfaceShape
  /**
   * Distance of strikes in thousandths: up to {@link FINE_DAYS} before expiration, and further ahead, where it is a multiple of the first.
   */
  readonly step: number
  readonly coarseStep: number
  /** The range of strikes. */
  readonly strikeMin: number
  readonly strikeMax: number
  /** Whether quotes are in cents throughout; otherwise in cents below 3 and in steps of five above. */
  readonly penny: boolean
  /** Half the distance between bid and ask: this many cents plus this share of the value. */
  readonly halfSpread: { readonly cents: number; readonly share: number }
  /** Typical contracts at the best price. */
  readonly size: number
  /** Prints per hour of a contract at the money close to expiration. */
  readonly prints: number
}

/** The rate per year, continuously compounded, of all models. */
export const RATE = 0.04
/** Until this long before expiration, strikes of a chain are {@link Underlying.step} apart. */
export const FINE_DAYS = 60
/** Strikes on either side of the one nearest to the day's first price. */
export const STRIKES_A_SIDE = 20

const AMERICAN = { ratio: 1, style: 'american', settlement: 'physical' } as const
const FUND = {
  ...AMERICAN,
  step: 2_000,
  coarseStep: 10_000,
  penny: true,
  halfSpread: { cents: 0.5, share: 0.003 },
  size: 120,
  prints: 30
} as const
const SHARE = { ...AMERICAN, penny: false, halfSpread: { cents: 1, share: 0.006 }, size: 60, prints: 20 } as const

export const UNDERLYINGS: readonly Underlying[] = [
  {
    ...SHARE,
    symbol: 'AAPL',
    name: 'Apple Inc.',
    follows: 'AAPL',
    dividend: 0.004,
    surface: { short: 0.26, long: 0.28, skew: -0.45, curve: 0.9 },
    step: 2_500,
    coarseStep: 5_000,
    strikeMin: 25_000,
    strikeMax: 2_500_000
  },
  {
    ...SHARE,
    symbol: 'MSFT',
    name: 'Microsoft Corporation',
    follows: 'MSFT',
    dividend: 0.007,
    surface: { short: 0.23, long: 0.25, skew: -0.45, curve: 0.9 },
    step: 5_000,
    coarseStep: 10_000,
    strikeMin: 50_000,
    strikeMax: 5_000_000
  },
  {
    ...SHARE,
    symbol: 'NVDA',
    name: 'NVIDIA Corporation',
    follows: 'NVDA',
    dividend: 0.0002,
    surface: { short: 0.42, long: 0.45, skew: -0.4, curve: 0.9 },
    step: 2_500,
    coarseStep: 5_000,
    strikeMin: 15_000,
    strikeMax: 2_000_000
  },
  {
    ...FUND,
    symbol: 'QQQ',
    name: 'Invesco QQQ Trust',
    follows: 'QQQ',
    dividend: 0.006,
    surface: { short: 0.2, long: 0.22, skew: -0.65, curve: 1.1 },
    strikeMin: 60_000,
    strikeMax: 6_000_000
  },
  {
    ...FUND,
    symbol: 'SPX',
    name: 'S&P 500 Index',
    follows: 'SPY',
    ratio: 10,
    style: 'european',
    settlement: 'cash',
    dividend: 0.012,
    surface: { short: 0.16, long: 0.18, skew: -0.7, curve: 1.1 },
    step: 25_000,
    coarseStep: 100_000,
    strikeMin: 600_000,
    strikeMax: 60_000_000,
    penny: false,
    halfSpread: { cents: 5, share: 0.003 }
  },
  {
    ...FUND,
    symbol: 'SPY',
    name: 'SPDR S&P 500 ETF Trust',
    follows: 'SPY',
    dividend: 0.012,
    surface: { short: 0.16, long: 0.18, skew: -0.7, curve: 1.1 },
    strikeMin: 60_000,
    strikeMax: 6_000_000
  },
  {
    ...SHARE,
    symbol: 'TSLA',
    name: 'Tesla, Inc.',
    follows: 'TSLA',
    dividend: 0,
    surface: { short: 0.52, long: 0.52, skew: -0.3, curve: 0.9 },
    step: 5_000,
    coarseStep: 10_000,
    strikeMin: 40_000,
    strikeMax: 4_000_000
  }
]
