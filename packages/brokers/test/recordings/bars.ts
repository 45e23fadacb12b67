/** All bars of a window. */

import type { Bar } from '@trunkline/core/domain/market/records'
import type { BarsRequest, MarketSource } from '@trunkline/core/ports/market'
import { signal } from './ticket.ts'

export async function barsOf(market: MarketSource, request: BarsRequest): Promise<readonly Bar[]> {
  const all: Bar[] = []
  for await (const page of market.bars(request, signal())) all.push(...page)
  return all
}
