/** Mapping of the broker's enum values to the core's. */

import type { Instrument, OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'

export const ORDER_TYPES = { Market: 'MKT', Limit: 'LMT', StopMarket: 'STP', StopLimit: 'STPLMT' } as const satisfies Record<
  string,
  OrderType
>

/** What is sent for a time in force. */
export const DURATIONS: { readonly [tif in TimeInForce]: string } = {
  DAY: 'DAY',
  GTC: 'GTC',
  IOC: 'IOC',
  FOK: 'FOK',
  OPEN: 'OPG',
  CLOSE: 'CLO',
  'DAY+': 'DYP',
  'GTC+': 'GCP'
}

/**
 * The reported time in force, in capitals: mostly what was sent, but extended hours in two spellings. An order placed elsewhere may have a last day
 * or a life of minutes, for which the core has no value: the nearest that lives at least as long.
 */
export const TIME_IN_FORCE = {
  DAY: 'DAY',
  DYP: 'DAY+',
  'DAY+': 'DAY+',
  GTC: 'GTC',
  GCP: 'GTC+',
  'GTC+': 'GTC+',
  GTD: 'GTC',
  GDP: 'GTC+',
  'GTD+': 'GTC+',
  OPG: 'OPEN',
  CLO: 'CLOSE',
  IOC: 'IOC',
  FOK: 'FOK',
  '1': 'DAY',
  '3': 'DAY',
  '5': 'DAY',
  '1 MIN': 'DAY',
  '3 MIN': 'DAY',
  '5 MIN': 'DAY'
} as const satisfies Record<string, TimeInForce>

/** What can be held. Classes that cannot be ordered here are none of the core's, and left out. */
export const ASSET_CLASSES = {
  STOCK: 'STK',
  STOCKOPTION: 'OPT',
  INDEXOPTION: 'OPT',
  FUTURE: 'FUT'
} as const satisfies Record<string, Instrument>

export const OPTION_ACTIONS: { readonly [side in Side]?: string } = {
  BUY_TO_OPEN: 'BUYTOOPEN',
  BUY_TO_CLOSE: 'BUYTOCLOSE',
  SELL_TO_OPEN: 'SELLTOOPEN',
  SELL_TO_CLOSE: 'SELLTOCLOSE'
}

/** `BuyOrSell` in capitals, by whether it opens or closes. Shares and futures have no such value in the core. */
export const ACTIONS = {
  BUY: { plain: 'BUY', OPEN: 'BUY_TO_OPEN', CLOSE: 'BUY_TO_CLOSE' },
  BUYTOCOVER: { plain: 'BUY', OPEN: 'BUY_TO_CLOSE', CLOSE: 'BUY_TO_CLOSE' },
  BUYTOOPEN: { plain: 'BUY', OPEN: 'BUY_TO_OPEN', CLOSE: 'BUY_TO_OPEN' },
  BUYTOCLOSE: { plain: 'BUY', OPEN: 'BUY_TO_CLOSE', CLOSE: 'BUY_TO_CLOSE' },
  SELL: { plain: 'SELL', OPEN: 'SELL_TO_OPEN', CLOSE: 'SELL_TO_CLOSE' },
  SELLSHORT: { plain: 'SELL', OPEN: 'SELL_TO_OPEN', CLOSE: 'SELL_TO_OPEN' },
  SELLTOOPEN: { plain: 'SELL', OPEN: 'SELL_TO_OPEN', CLOSE: 'SELL_TO_OPEN' },
  SELLTOCLOSE: { plain: 'SELL', OPEN: 'SELL_TO_CLOSE', CLOSE: 'SELL_TO_CLOSE' }
} as const satisfies Record<string, { readonly plain: Side; readonly OPEN: Side; readonly CLOSE: Side }>
