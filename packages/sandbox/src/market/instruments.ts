/** The instruments the sandbox lists, and the rows of those that only recorded data knows. */
import type { InstrumentKind } from '../engine/types.ts'
import type { Instrument } from './types.ts'

type Common = Omit<Instrument, 'symbol' | 'name' | 'exchange' | 'tick'>

/** What all instruments of a kind share. Options and futures get their rows when the engine can margin them. */
const KINDS: { readonly [Kind in Extract<InstrumentKind, 'STK' | 'CRYPTO'>]: Common } = {
  STK: {
    kind: 'STK',
    currency: 'USD',
    market: 'us-equity',
    tickBelowOne: '0.0001',
    lot: '1',
    fraction: '0.000000001',
    multiplier: '1',
    shortable: true,
    auctions: true,
    settlementDays: 1,
    // Regulation T: half at opening, a quarter (short 30 %) to keep.
    margin: { initial: 5_000, maintenanceLong: 2_500, maintenanceShort: 3_000 },
    // The SEC's fee on sales, 27.80 per million of proceeds.
    fees: { buy: 0, sell: 278 }
  },
  CRYPTO: {
    kind: 'CRYPTO',
    currency: 'USD',
    market: 'crypto',
    tickBelowOne: null,
    lot: '0.00000001',
    fraction: '0.00000001',
    multiplier: '1',
    shortable: false,
    auctions: false,
    settlementDays: 0,
    margin: { initial: 10_000, maintenanceLong: 10_000, maintenanceShort: 10_000 },
    // A quarter of a percent each way.
    fees: { buy: 25_000, sell: 25_000 }
  }
}

const SHARE_TICK = '0.01'
const PAIR_TICK = '0.01'

/** The synthetic market's list, in the order in which events of the same instant are delivered. */
export const INSTRUMENTS: readonly Instrument[] = [
  share('AAPL', 'Apple Inc.', 'NASDAQ'),
  share('AMZN', 'Amazon.com, Inc.', 'NASDAQ'),
  share('BRK.B', 'Berkshire Hathaway Inc. Class B', 'NYSE'),
  share('F', 'Ford Motor Company', 'NYSE'),
  share('GOOG', 'Alphabet Inc. Class C', 'NASDAQ'),
  share('IWM', 'iShares Russell 2000 ETF', 'ARCA'),
  share('KO', 'The Coca-Cola Company', 'NYSE'),
  share('META', 'Meta Platforms, Inc. Class A', 'NASDAQ'),
  share('MSFT', 'Microsoft Corporation', 'NASDAQ'),
  share('NVDA', 'NVIDIA Corporation', 'NASDAQ'),
  share('QQQ', 'Invesco QQQ Trust', 'NASDAQ'),
  share('SPY', 'SPDR S&P 500 ETF Trust', 'ARCA'),
  { ...share('THIN', 'Thinly Traded Industries', 'SANDBOX'), shortable: false },
  share('TSLA', 'Tesla, Inc.', 'NASDAQ'),
  pair('BTC/USD', 'Bitcoin / US Dollar', PAIR_TICK),
  pair('DOGE/USD', 'Dogecoin / US Dollar', '0.00001'),
  pair('ETH/USD', 'Ether / US Dollar', PAIR_TICK),
  pair('SOL/USD', 'Solana / US Dollar', PAIR_TICK)
]

/** The row of a recorded symbol: the known one, or the kind's with the symbol as its name. */
export function recordedInstrument(symbol: string, asset: 'equity' | 'crypto', venue: string): Instrument {
  const known = INSTRUMENTS.find(instrument => instrument.symbol === symbol)
  const exchange = venue.toUpperCase()
  if (asset === 'equity') return known ?? share(symbol, symbol, exchange)
  const [base = symbol, quote = 'USD'] = symbol.split('/')
  return { ...(known ?? pair(symbol, `${base} / ${quote}`, PAIR_TICK)), exchange, currency: quote }
}

function share(symbol: string, name: string, exchange: string): Instrument {
  return { ...KINDS.STK, symbol, name, exchange, tick: SHARE_TICK }
}

function pair(symbol: string, name: string, tick: string): Instrument {
  return { ...KINDS.CRYPTO, symbol, name, exchange: 'SANDBOX', tick }
}
