/** The broker contract: numbered cases that every broker must pass, run against its own venue or sandbox. */

import { test } from 'node:test'
import { CHANGE } from './change.ts'
import { CONNECT } from './connect.ts'
import type { ContractCase } from './contract-case.ts'
import type { BrokerHarness } from './harness.ts'
import { HOSTILE } from './hostile.ts'
import { LEGS } from './legs.ts'
import { PARTIAL } from './partial.ts'
import { PREVIEW } from './preview.ts'
import { SIDES } from './sides.ts'
import { STREAM } from './stream.ts'
import { SUBMIT } from './submit.ts'
import { TOKENS } from './tokens.ts'

export type { BrokerHarness, InjectedFault, InjectedStreamFault, Sample, Venue, VenueOperation } from './harness.ts'

/** All cases, in the order of their numbers. */
export const CONTRACT_CASES: readonly ContractCase[] = [
  ...CONNECT,
  ...SUBMIT,
  ...SIDES,
  ...LEGS,
  ...PREVIEW,
  ...CHANGE,
  ...STREAM,
  ...TOKENS,
  ...HOSTILE,
  ...PARTIAL
]

/**
 * Registers one test per case. A case that does not apply to the broker's capabilities passes with the note "not offered"; nothing else is
 * left out. `open` is called once per case.
 */
export function brokerContract(name: string, open: () => Promise<BrokerHarness>): void {
  for (const contractCase of CONTRACT_CASES) {
    test(`${name} ${contractCase.id}: ${contractCase.title}`, async context => {
      await using harness = await open()
      const reason = contractCase.notOffered?.(harness.definition.capabilities) ?? null
      if (reason !== null) return context.diagnostic(`not offered: ${reason}`)
      await contractCase.run(harness)
    })
  }
}
