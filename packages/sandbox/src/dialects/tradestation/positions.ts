/** The Position object of REST and of the position stream. */

import { createHash } from 'node:crypto'
import { absolute, type Decimal, dividedBy, isZero, minus, times } from '@trunkline/core/domain/decimal'
import type { InstrumentSpec, MarketView, PositionView } from '../../engine/types.ts'
import { decimal } from './figures.ts'
import { assetOf, shownSymbol } from './symbols.ts'
import { dayOf, timeOf } from './times.ts'

const PLACES = 9
const HUNDRED = decimal('100')
const TEN_THOUSAND = decimal('10000')

export interface PositionDetails {
  /** As the owner knows the account. */
  readonly accountId: string
  readonly instrument: InstrumentSpec | undefined
  readonly market: MarketView | undefined
}

/** Whole digits: the same as long as the position is not closed. */
export function positionIdOf({ accountId, symbol, openedAt }: PositionView): string {
  const hash = createHash('sha256').update(`${accountId} ${symbol} ${openedAt}`).digest()
  return String(100_000_000 + (hash.readUInt32BE(0) % 900_000_000))
}

export function positionWire(position: PositionView, { accountId, instrument, market }: PositionDetails): Readonly<Record<string, string>> {
  const quantity = decimal(position.quantity)
  const cost = decimal(position.costBasis)
  const unrealized = decimal(position.unrealizedPl)
  const [bid, ask] = [market?.bids[0]?.[0], market?.asks[0]?.[0]]
  return {
    PositionID: positionIdOf(position),
    AccountID: accountId,
    AssetType: instrument === undefined ? 'UNKNOWN' : assetOf(instrument),
    Symbol: shownSymbol(position.symbol),
    LongShort: position.quantity.startsWith('-') ? 'Short' : 'Long',
    Quantity: position.quantity,
    AveragePrice: position.averagePrice,
    Last: position.lastPrice,
    Bid: bid ?? '0',
    Ask: ask ?? '0',
    TotalCost: position.costBasis,
    MarketValue: position.marketValue,
    ConversionRate: '1',
    UnrealizedProfitLoss: position.unrealizedPl,
    UnrealizedProfitLossPercent: isZero(cost) ? '0' : dividedBy(times(unrealized, HUNDRED), absolute(cost), 3),
    UnrealizedProfitLossQty: isZero(quantity) ? '0' : dividedBy(unrealized, absolute(quantity), PLACES),
    ...byKind(position, instrument, quantity),
    Timestamp: timeOf(position.openedAt)
  }
}

function byKind(position: PositionView, instrument: InstrumentSpec | undefined, quantity: Decimal): Readonly<Record<string, string>> {
  if (instrument?.future !== undefined) {
    const { initialMargin, maintenanceMargin, lastTradeAt } = instrument.future
    const contracts = absolute(quantity)
    return {
      InitialRequirement: times(contracts, decimal(initialMargin)),
      MaintenanceMargin: times(contracts, decimal(maintenanceMargin)),
      DayTradeRequirement: times(contracts, decimal(initialMargin)),
      ExpirationDate: timeOf(lastTradeAt)
    }
  }
  return {
    TodaysProfitLoss: position.dailyPl,
    MarkToMarketPrice: markToMarket(position, quantity, instrument),
    DayTradeRequirement: '0',
    ...(instrument?.kind === 'STK' ? { MaintenanceMargin: maintenance(position, instrument) } : {}),
    ...(instrument?.option === undefined ? {} : { InitialRequirement: '0', ExpirationDate: dayOf(instrument.option.expiration) })
  }
}

/** The price against which today's gain is counted. */
function markToMarket(
  { marketValue, dailyPl, lastPrice }: PositionView,
  quantity: Decimal,
  instrument: InstrumentSpec | undefined
): string {
  const units = times(quantity, decimal(instrument?.multiplier ?? '1'))
  if (isZero(units)) return lastPrice
  return dividedBy(minus(decimal(marketValue), decimal(dailyPl)), units, PLACES)
}

function maintenance({ marketValue, quantity }: PositionView, { margin }: InstrumentSpec): string {
  const share = quantity.startsWith('-') ? margin.maintenanceShort : margin.maintenanceLong
  return dividedBy(times(absolute(decimal(marketValue)), decimal(String(share))), TEN_THOUSAND, 2)
}

/** Whether a symbol answers to one of TradeStation's wildcards: `MSFT`, `MSFT *`, `MSFT 23*`. */
export function isMeant(symbol: string, patterns: readonly string[]): boolean {
  return patterns.some(pattern => (pattern.endsWith('*') ? symbol.startsWith(pattern.slice(0, -1)) : symbol === pattern))
}
