/** The Position object of REST and of the position stream. */

import { createHash } from 'node:crypto'
import type { InstrumentSpec, MarketView, PositionView } from '../frame/brokerage.ts'
import { assetOf, shownSymbol } from './symbols.ts'
import { timeOf } from './times.ts'

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
    UnrealizedProfitLoss: position.unrealizedPl,
    // Of a future there is none.
    ...(instrument?.future === undefined ? { TodaysProfitLoss: position.dailyPl } : {}),
    Timestamp: timeOf(position.openedAt)
  }
}
