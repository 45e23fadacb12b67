/** Every recording that there is, through the adapter of its broker: right, or what differs. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { alpacaFacts } from './alpaca.ts'
import { compare, type Verdict } from './compare.ts'
import type { Facts } from './facts.ts'
import { type Recording, recordingsOf, variants } from './load.ts'
import { tradestationFacts } from './tradestation.ts'
import { tradierFacts } from './tradier.ts'

interface Reader {
  readonly facts: (recording: Recording) => Promise<Facts>
  /** Of answers whose status is not known. */
  readonly statuses: readonly number[]
}

const READERS: { readonly [broker: string]: Reader } = {
  alpaca: { facts: alpacaFacts, statuses: [200] },
  tradier: { facts: tradierFacts, statuses: [500, 401] },
  tradestation: { facts: tradestationFacts, statuses: [200, 400] }
}

for (const [broker, reader] of Object.entries(READERS)) {
  for (const recording of recordingsOf(broker)) {
    test(`${broker}/${recording.name}: ${recording.subject}`, async () => {
      const verdicts = await Promise.all(variants(recording, reader.statuses).map(variant => verdictOn(variant, reader)))
      const wrong = verdicts.flatMap(({ differences }) => differences)
      const [{ judged, noted } = { judged: [], noted: [] }] = verdicts
      const aside = noted.length === 0 ? '' : `; not judged: ${noted.join(', ')}`
      console.log(`= ${broker}/${recording.name}: ${wrong.length === 0 ? `right (${judged.join(', ')}${aside})` : wrong.join('; ')}`)
      assert.deepEqual(wrong, [])
    })
  }
}

async function verdictOn(recording: Recording, { facts }: Reader): Promise<Verdict> {
  try {
    return compare(recording.expected, await facts(recording))
  } catch (error) {
    return { judged: [], noted: [], differences: [`nothing was read: ${error instanceof Error ? error.message : 'unknown'}`] }
  }
}
