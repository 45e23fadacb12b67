/**
 * Which figures of a bar a trade of a share moves, by the sale conditions of its tape: what the tapes' own tables say of consolidated bars.
 * Pure.
 */

import type { TradeEffect } from '@trunkline/core/domain/market/records'

/**
 * Neither price nor volume: the official opening and closing prices, and corrected ones, which repeat trades that were reported already.
 */
const MOVES_NOTHING: ReadonlySet<string> = new Set(['M', 'Q', '9'])
/**
 * Volume only: average price (B, W), cash (C), next day (N), seller (R), price variation (H), odd lot (I), contingent (V, 7), derivatively
 * priced (4), prior reference (P), late (Z, G), extended hours out of sequence (U).
 */
const MOVES_VOLUME: ReadonlySet<string> = new Set(['B', 'W', 'C', 'N', 'R', 'H', 'I', 'V', '7', '4', 'P', 'Z', 'G', 'U'])

/**
 * `conditions` as they came; anything but a list of texts is a regular trade. `tape`: `A` and `B` use one tape's codes, `C` the other's.
 */
export function effectOf(conditions: unknown, tape: unknown): TradeEffect {
  if (!Array.isArray(conditions)) return 'all'
  let effect: TradeEffect = 'all'
  for (const condition of conditions) {
    if (typeof condition !== 'string') continue
    if (MOVES_NOTHING.has(condition)) return 'none'
    // On the third tape B is a bunched trade, which counts.
    if (MOVES_VOLUME.has(condition) && !(condition === 'B' && tape === 'C')) effect = 'volume'
  }
  return effect
}
