import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionsWithin, databaseFilesWithin, openFilesMax } from '../../src/ops/open-files.ts'

test('connections take at most half of the descriptors', () => {
  const limits = (soft: string) => () =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft}                 4096                 files\n`
  assert.equal(openFilesMax(limits('256')), 256)
  assert.equal(openFilesMax(limits('unlimited')), null)
  const own = openFilesMax()
  assert.ok(own === null || own >= 16)
  assert.deepEqual(
    [256, 2_048, 1_048_576, null].map(max => databaseFilesWithin(max)),
    [64, 512, 1_000, 1_000]
  )
  assert.equal(connectionsWithin(15_000, 256), 128)
  assert.equal(connectionsWithin(15_000, 1_048_576), 15_000)
  assert.equal(connectionsWithin(15_000, null), 15_000)
})
