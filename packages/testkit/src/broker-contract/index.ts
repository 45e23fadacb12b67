/** The broker contract: numbered cards that every broker must pass, run against its own venue or sandbox. */

import { test } from 'node:test'
import type { Card } from './card.ts'
import { CHANGE } from './change.ts'
import { CONNECT } from './connect.ts'
import type { BrokerHarness } from './harness.ts'
import { HOSTILE } from './hostile.ts'
import { LEGS } from './legs.ts'
import { PREVIEW } from './preview.ts'
import { SIDES } from './sides.ts'
import { STREAM } from './stream.ts'
import { SUBMIT } from './submit.ts'
import { TOKENS } from './tokens.ts'

export type { BrokerHarness, Misbehaviour, Sample, StreamMischief, Venue, VenueOperation } from './harness.ts'

/** All cards, in the order of their numbers. */
export const CARDS: readonly Card[] = [...CONNECT, ...SUBMIT, ...SIDES, ...LEGS, ...PREVIEW, ...CHANGE, ...STREAM, ...TOKENS, ...HOSTILE]

/**
 * Registers one test per card. A card that the broker's capabilities do not owe passes with the note "not offered"; nothing else is left
 * out. `open` is called once per card.
 */
export function brokerContract(name: string, open: () => Promise<BrokerHarness>): void {
  for (const card of CARDS) {
    test(`${name} ${card.id}: ${card.title}`, async context => {
      await using harness = await open()
      const reason = card.notOffered?.(harness.definition.capabilities) ?? null
      if (reason !== null) return context.diagnostic(`not offered: ${reason}`)
      await card.run(harness)
    })
  }
}
