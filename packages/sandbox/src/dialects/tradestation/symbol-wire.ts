/** The details of a symbol. */

import type { Instrument } from '../frame/brokerage.ts'
import { assetOf, rootShown, shownSymbol } from './symbols.ts'
import { dayOf, timeOf } from './times.ts'

export function symbolWire(instrument: Instrument): object {
  const { symbol, name, currency, exchange, option, future } = instrument
  return {
    ...{ AssetType: assetOf(instrument), Country: 'United States', Currency: currency, Description: name, Exchange: exchange },
    ...(future === undefined ? {} : { ExpirationDate: timeOf(future.lastTradeAt), Root: rootShown(future.root) }),
    ...(option === undefined ? {} : { ExpirationDate: dayOf(option.expiration), Underlying: option.underlying }),
    Symbol: shownSymbol(symbol)
  }
}
