/** Positions as Tradier has them: cost and quantity, and nothing of the market. Pure. */

import { createHash } from 'node:crypto'
import type { PositionView } from '../../engine/types.ts'
import { dateOf } from './orders/tradier-orders.ts'
import { toTradier } from './symbols.ts'
import { type Branch, Figure, figure, listed, plain } from './tree.ts'

export function positionsTree(positions: readonly PositionView[]): Branch {
  return listed(
    'positions',
    'position',
    positions.map(({ accountId, symbol, costBasis, quantity, openedAt }) => ({
      cost_basis: plain(costBasis),
      date_acquired: dateOf(openedAt),
      id: idOf(`${accountId} ${symbol} ${openedAt}`),
      quantity: figure(quantity),
      symbol: toTradier(symbol)
    }))
  )
}

/** The same for as long as the position is held. */
function idOf(text: string): Figure {
  return new Figure(String(createHash('sha256').update(text).digest().readUInt32BE(0)))
}
