/** The market contract: numbered cases that every broker's market data must pass, run against its own venue or sandbox. */

import { test } from 'node:test'
import type { ContractCase } from './contract-case.ts'
import type { MarketHarness } from './harness.ts'
import { READS } from './reads.ts'
import { STREAM } from './stream.ts'

export type { InjectedMarketFault, MarketHarness, MarketSymbols, MarketVenue } from './harness.ts'

/** All cases, in the order of their numbers. */
export const MARKET_CONTRACT_CASES: readonly ContractCase[] = [...READS, ...STREAM]

/**
 * Registers one test per case. A case that does not apply to the broker's capabilities passes with the note "not offered"; nothing else is
 * left out. `open` is called once per case.
 */
export function marketContract(name: string, open: () => Promise<MarketHarness>): void {
  for (const contractCase of MARKET_CONTRACT_CASES) {
    test(`${name} ${contractCase.id}: ${contractCase.title}`, async context => {
      await using harness = await open()
      const reason = contractCase.notOffered?.(harness.capabilities) ?? null
      if (reason !== null) return context.diagnostic(`not offered: ${reason}`)
      await contractCase.run(harness)
    })
  }
}
