// S63 at length: a million seals in a search, of which every run has a tenth.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { CONTEXT, key, randomParts, ring } from './rings.ts'

const SEALS = ofSearch(1_000_000, 100_000)

test('no data key and no initialisation vector comes twice, in as many seals as a long life has [S63]', () => {
  const master = key('k1')
  const vault = new EnvelopeVault(ring(master))
  // Eight bytes of each: by chance two of three million are equal once in some four million runs.
  const seen = new BigUint64Array(3 * SEALS)
  for (let i = 0; i < SEALS; i++) {
    for (const [part, bytes] of randomParts(vault.seal('x', CONTEXT), master.key).entries())
      seen[3 * i + part] = Buffer.from(bytes).readBigUInt64LE()
  }
  seen.sort()
  let repeats = 0
  for (let i = 1; i < seen.length; i++) if (seen[i] === seen[i - 1]) repeats += 1
  assert.equal(repeats, 0)
})
