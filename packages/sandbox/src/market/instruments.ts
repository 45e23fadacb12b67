/** The instruments that the sandbox lists, and the specifications of those that exist only in recorded data. */
import type { FutureTerms, InstrumentKind, OptionTerms } from '../engine/types.ts'
import { type CalendarChoice, hoursOf } from './hours.ts'
import type { Instrument, MarketGroup } from './types.ts'

type Common = Omit<Instrument, 'symbol' | 'name' | 'exchange' | 'tick' | 'hours' | 'market'> & { readonly market: MarketGroup }

/** The values that all instruments of a kind share. */
const COMMON_OF: { readonly [Kind in InstrumentKind]: Common } = {
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
    // Regulation T: initial margin half, maintenance a quarter (short 30 %).
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
    // A quarter of a percent on each side.
    fees: { buy: 25_000, sell: 25_000 }
  },
  OPT: {
    kind: 'OPT',
    currency: 'USD',
    market: 'us-option',
    tickBelowOne: null,
    lot: '1',
    fraction: '1',
    multiplier: '100',
    shortable: true,
    auctions: false,
    settlementDays: 1,
    // A long option is paid in full; a short one's margin follows from its terms.
    margin: { initial: 10_000, maintenanceLong: 10_000, maintenanceShort: 10_000 },
    fees: { buy: 0, sell: 0 }
  },
  FUT: {
    kind: 'FUT',
    currency: 'USD',
    market: 'cme',
    tickBelowOne: null,
    lot: '1',
    fraction: '1',
    multiplier: '1',
    shortable: true,
    auctions: false,
    settlementDays: 0,
    // Money per contract, in its terms; not a share of the value.
    margin: { initial: 0, maintenanceLong: 0, maintenanceShort: 0 },
    fees: { buy: 0, sell: 0 }
  }
}

const SHARE_TICK = '0.01'
const PAIR_TICK = '0.01'

type Row = Omit<Instrument, 'hours'> & { readonly market: MarketGroup }

/** The synthetic market's list, in the order in which events of the same instant are delivered. */
const ROWS: readonly Row[] = [
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

/** The shares and crypto of the synthetic market, for a calendar setting. */
export function listedInstruments(choice: CalendarChoice): readonly Instrument[] {
  return ROWS.map(row => withHours(row, choice))
}

/** The exchange that lists a share; null for an unknown share. */
export function listingOf(symbol: string): string | null {
  return ROWS.find(row => row.symbol === symbol && row.kind === 'STK')?.exchange ?? null
}

export interface Recorded {
  readonly symbol: string
  readonly asset: 'equity' | 'crypto'
  readonly venue: string
}

/** The specification of a recorded symbol: the known one, or the kind's with the symbol as its name. */
export function recordedInstrument({ symbol, asset, venue }: Recorded, choice: CalendarChoice): Instrument {
  const known = ROWS.find(row => row.symbol === symbol)
  const exchange = venue.toUpperCase()
  if (asset === 'equity') return withHours(known ?? share(symbol, symbol, exchange), choice)
  const [base = symbol, quote = 'USD'] = symbol.split('/')
  return withHours({ ...(known ?? pair(symbol, `${base} / ${quote}`, PAIR_TICK)), exchange, currency: quote }, choice)
}

/** The specification of an option contract; prices are in cents. */
export function optionInstrument(symbol: string, option: OptionTerms, choice: CalendarChoice): Instrument {
  const { underlying, expiration, strike, right } = option
  const name = `${underlying} ${expiration} ${strike} ${right === 'call' ? 'Call' : 'Put'}`
  return withHours({ ...COMMON_OF.OPT, symbol, name, exchange: 'OPRA', tick: SHARE_TICK, option }, choice)
}

export interface FutureFacts {
  readonly symbol: string
  readonly name: string
  readonly exchange: string
  readonly tick: string
  readonly multiplier: string
  readonly future: FutureTerms
}

export function futureInstrument(facts: FutureFacts, choice: CalendarChoice): Instrument {
  return withHours({ ...COMMON_OF.FUT, ...facts }, choice)
}

function withHours(row: Row, choice: CalendarChoice): Instrument {
  return { ...row, hours: hoursOf(row.market, choice) }
}

function share(symbol: string, name: string, exchange: string): Row {
  return { ...COMMON_OF.STK, symbol, name, exchange, tick: SHARE_TICK }
}

function pair(symbol: string, name: string, tick: string): Row {
  return { ...COMMON_OF.CRYPTO, symbol, name, exchange: 'SANDBOX', tick }
}
