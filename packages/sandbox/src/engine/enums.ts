/** The enums of the engine, its unit of time, and the specification of instruments. */

/** Whole microseconds since the Unix epoch. */
export type Micros = number

/** What can be traded. */
export const INSTRUMENT_KINDS = ['STK', 'CRYPTO', 'OPT', 'FUT'] as const
export type InstrumentKind = (typeof INSTRUMENT_KINDS)[number]

/** Everything the engine needs to know about an instrument. It is data, so a new kind needs no new code. */
export interface InstrumentSpec {
  readonly symbol: string
  readonly kind: InstrumentKind
  /** Its usual name: `Apple Inc.` */
  readonly name: string
  /** The currency of its prices; only accounts in that currency can trade it. */
  readonly currency: string
  /** The session group that sets its phases, such as `us-equity` or `crypto` (see {@link SessionCommand}). */
  readonly market: string
  /** Limit and stop prices are multiples of this. */
  readonly tick: string
  /** The finer tick for prices below 1; null if `tick` always applies. */
  readonly tickBelowOne: string | null
  /** Ordinary quantities are multiples of this: `1` for shares. */
  readonly lot: string
  /** Market and notional orders may use multiples of this: `0.000000001` if fractions are tradable, otherwise the lot. */
  readonly fraction: string
  /** Money per price point and unit: `1` for shares and crypto, `100` for a share option, `50` for ES. A whole number. */
  readonly multiplier: string
  readonly shortable: boolean
  /** Whether OPEN and CLOSE orders are available for it. */
  readonly auctions: boolean
  /** Trading days until a trade's cash settles: 1 for shares, 0 for crypto. */
  readonly settlementDays: number
  /**
   * Share of the market value, in ten-thousandths, that margin accounts must hold: Reg-T shares 5000/2500/3000, crypto 10000 for all.
   * Unused for options and futures.
   */
  readonly margin: { readonly initial: number; readonly maintenanceLong: number; readonly maintenanceShort: number }
  /** The terms of an option contract; absent for all other kinds. */
  readonly option?: OptionTerms
  /** The terms of a futures month; absent for all other kinds. */
  readonly future?: FutureTerms
  /** Fee in ten-millionths of the traded value, separate for each side, per order, rounded half up to cents. */
  readonly fees: { readonly buy: number; readonly sell: number }
}

export interface OptionTerms {
  readonly underlying: string
  readonly right: 'call' | 'put'
  /** A price of the underlying. */
  readonly strike: string
  /** `YYYY-MM-DD`, the last day for exercise. */
  readonly expiration: string
  /** The end of trading; the market's `expire` command follows. */
  readonly lastTradeAt: Micros
  readonly style: 'american' | 'european'
  readonly settlement: 'physical' | 'cash'
}

export interface FutureTerms {
  readonly root: string
  /** `YYYY-MM`. */
  readonly month: string
  readonly lastTradeAt: Micros
  /** Money that an account needs to open one contract, and to keep it. */
  readonly initialMargin: string
  readonly maintenanceMargin: string
}

export const ACCOUNT_TYPES = ['margin', 'cash', 'crypto', 'futures'] as const
export type AccountType = (typeof ACCOUNT_TYPES)[number]

/** Phases of a session group. DAY and GTC trade in `open` only; DAY+ and GTC+ in `pre`, `open` and `post`. */
export const PHASES = ['pre', 'open', 'post', 'closed'] as const
export type Phase = (typeof PHASES)[number]

/**
 * The states of an order. `held` (an untriggered stop, an auction order), `open` (on the book) and `partial` (on the
 * book, partly filled) are live; the other five are final. A canceled or expired order may have fills.
 */
export const ORDER_STATES = ['held', 'open', 'partial', 'filled', 'canceled', 'expired', 'rejected', 'replaced'] as const
export type OrderState = (typeof ORDER_STATES)[number]

/** The stable codes of all refusals. Each comes with a message that says what was found and what to do. */
export const REFUSAL_CODES = [
  'unknown_account',
  'unknown_symbol',
  'unknown_order',
  'duplicate_account',
  'duplicate_client_order_id',
  'bad_client_order_id',
  'bad_instrument',
  'bad_legs',
  'expired_contract',
  'instrument_not_permitted',
  'unsupported_side',
  'unsupported_time_in_force',
  'bad_quantity',
  'bad_notional',
  'bad_price',
  'bad_tick',
  'price_out_of_band',
  'no_price',
  'market_closed',
  'halted',
  'insufficient_buying_power',
  'insufficient_position',
  'short_sale_not_allowed',
  'insufficient_cash',
  'order_not_open',
  'quantity_already_filled',
  'too_many_open_orders'
] as const
export type RefusalCode = (typeof REFUSAL_CODES)[number]
