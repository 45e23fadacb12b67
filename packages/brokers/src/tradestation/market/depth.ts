/** An order book by price: every line is a full one. Pure. */

import type { Depth, DepthLevel } from '@trunkline/core/domain/market/records'
import { decimal, field, list, type Wire } from '../../kit/parse.ts'
import { amount } from '../quirks.ts'
import { nanosOf } from './quote.ts'

const LEVELS_MAX = 10

export function depthPath(symbol: string): string {
  return `/marketdata/stream/marketdepth/aggregates/${encodeURIComponent(symbol)}?maxlevels=${LEVELS_MAX}`
}

/** @throws Malformed */
export function parseDepth(wire: Wire): Depth {
  return { bids: list(wire, 'Bids', level).slice(0, LEVELS_MAX), asks: list(wire, 'Asks', level).slice(0, LEVELS_MAX) }
}

function level(wire: Wire): DepthLevel {
  return {
    price: decimal(wire, 'Price'),
    size: decimal(wire, 'TotalSize'),
    orders: amount(wire, 'TotalOrderCount'),
    // A level is the sum of several participants, whom it does not name.
    venue: '',
    at: nanosOf(field(wire, 'LatestTime'), 'LatestTime')
  }
}
