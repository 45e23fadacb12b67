/** The details of a symbol: what it is, and the steps its prices and quantities go in. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Instrument } from '../../market/types.ts'
import { assetOf, rootShown, shownSymbol } from './symbols.ts'
import { dayOf, timeOf } from './times.ts'

export function symbolWire(instrument: Instrument): object {
  const { symbol, name, currency, exchange, option, future, lot } = instrument
  const isFuture = future !== undefined
  return {
    AssetType: assetOf(instrument),
    Country: 'United States',
    Currency: currency,
    Description: name,
    Exchange: exchange,
    ...(isFuture ? { ExpirationDate: timeOf(future.lastTradeAt), FutureType: 'Electronic', Root: rootShown(future.root) } : {}),
    ...(option === undefined
      ? {}
      : {
          ExpirationDate: dayOf(option.expiration),
          OptionType: option.right === 'call' ? 'Call' : 'Put',
          StrikePrice: option.strike,
          Root: option.underlying,
          Underlying: option.underlying
        }),
    ...(isFuture || option !== undefined ? {} : { Root: shownSymbol(symbol) }),
    PriceFormat: priceFormat(instrument),
    QuantityFormat: {
      Format: 'Decimal',
      Decimals: String(placesOf(lot)),
      IncrementStyle: 'Simple',
      Increment: lot,
      MinimumTradeQuantity: lot
    },
    Symbol: shownSymbol(symbol)
  }
}

function priceFormat({ tick, tickBelowOne, multiplier }: Instrument): object {
  const base = { Format: 'Decimal', Decimals: String(placesOf(tickBelowOne ?? tick)), PointValue: multiplier }
  if (tickBelowOne === null) return { ...base, IncrementStyle: 'Simple', Increment: tick }
  return {
    ...base,
    IncrementStyle: 'Schedule',
    IncrementSchedule: [
      { StartsAt: '0', Increment: tickBelowOne },
      { StartsAt: '1', Increment: tick }
    ]
  }
}

function placesOf(step: string | Decimal): number {
  return step.split('.')[1]?.length ?? 0
}
