import type { MarketHours } from '../../kit/market-hours.ts'

/** What the market data needs of the settings. */
export interface MarketSettings {
  /** `wss:`; below it the streams of each kind of instrument. */
  readonly dataStreamUrl: string
  readonly stockFeed: 'iex' | 'sip'
  readonly optionFeed: 'indicative' | 'opra'
  /** Alpaca's streams are silent while nothing happens: a ping this often, and two without an answer mean a dead connection. */
  readonly pingMs: number
  /** When its markets are open: those of the exchanges, but for a sandbox. */
  readonly hours: MarketHours
}
