/** The trading profile of each synthetic symbol. */

/** Prices in ticks and sizes in units are integers; the values of a tick and a unit are in this file. */
export interface Profile {
  readonly symbol: string
  /** The level that it reverts to: a multiple of the tick. */
  readonly price: string
  /** A typical day's move, in ten-thousandths of that price. */
  readonly volatility: number
  /** Usual distance between bid and ask, and between levels, in ticks. */
  readonly spread: number
  readonly step: number
  /** The smallest size shown or traded. */
  readonly unit: string
  /** Typical size at the best price, in units: it varies from 40 % to 160 % of that, and grows by a tenth of it with every level. */
  readonly size: number
  /** Approximate volume in 24 hours, in units. At least 5,760: every minute has four prints of one unit or more. */
  readonly volume: number
  /** Its share of the market's rate of updates. */
  readonly pace: number
}

const LIQUID = { spread: 1, step: 1, unit: '1', pace: 1 }

export const PROFILES: readonly Profile[] = [
  { ...LIQUID, symbol: 'AAPL', price: '240.00', volatility: 150, size: 800, volume: 50_000_000 },
  { ...LIQUID, symbol: 'AMZN', price: '225.00', volatility: 180, size: 600, volume: 40_000_000 },
  { ...LIQUID, symbol: 'BRK.B', price: '490.00', volatility: 90, spread: 4, step: 3, size: 120, volume: 4_000_000, pace: 0.5 },
  { ...LIQUID, symbol: 'F', price: '12.50', volatility: 180, size: 5_000, volume: 60_000_000, pace: 0.5 },
  { ...LIQUID, symbol: 'GOOG', price: '250.00', volatility: 170, size: 500, volume: 25_000_000 },
  { ...LIQUID, symbol: 'IWM', price: '235.00', volatility: 130, size: 900, volume: 30_000_000, pace: 0.5 },
  { ...LIQUID, symbol: 'KO', price: '70.00', volatility: 80, size: 900, volume: 14_000_000, pace: 0.5 },
  { ...LIQUID, symbol: 'META', price: '680.00', volatility: 200, spread: 3, step: 2, size: 250, volume: 14_000_000 },
  { ...LIQUID, symbol: 'MSFT', price: '500.00', volatility: 130, spread: 2, step: 2, size: 400, volume: 22_000_000 },
  { ...LIQUID, symbol: 'NVDA', price: '180.00', volatility: 250, size: 1_500, volume: 180_000_000 },
  { ...LIQUID, symbol: 'QQQ', price: '600.00', volatility: 120, size: 900, volume: 45_000_000 },
  { ...LIQUID, symbol: 'SPY', price: '660.00', volatility: 90, size: 1_500, volume: 70_000_000 },
  // Deliberately thin: 3 to 12 shares at the touch, about 120 on a side over ten levels, with updates every five seconds or so. An order
  // for a few hundred shares fills in parts.
  { symbol: 'THIN', price: '25.00', volatility: 200, spread: 4, step: 3, unit: '1', size: 8, volume: 30_000, pace: 0.1 },
  { ...LIQUID, symbol: 'TSLA', price: '400.00', volatility: 300, spread: 2, step: 2, size: 500, volume: 90_000_000 },
  {
    symbol: 'BTC/USD',
    price: '95000.00',
    volatility: 250,
    spread: 200,
    step: 150,
    unit: '0.0001',
    size: 4_000,
    volume: 200_000_000,
    pace: 1
  },
  { symbol: 'DOGE/USD', price: '0.20000', volatility: 400, spread: 2, step: 2, unit: '1', size: 20_000, volume: 900_000_000, pace: 0.5 },
  { symbol: 'ETH/USD', price: '3200.00', volatility: 300, spread: 12, step: 10, unit: '0.001', size: 5_000, volume: 250_000_000, pace: 1 },
  { symbol: 'SOL/USD', price: '150.00', volatility: 400, spread: 2, step: 2, unit: '0.01', size: 6_000, volume: 300_000_000, pace: 0.5 }
]
