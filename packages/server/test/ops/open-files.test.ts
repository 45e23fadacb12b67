import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionsWithin, openFilesMax } from '../../src/ops/open-files.ts'

test('connections take at most half of the descriptors', () => {
  const limits = (soft: string) => () =>
    `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft}                 4096                 files\n`
  assert.equal(openFilesMax(limits('256')), 256)
  assert.equal(openFilesMax(limits('unlimited')), null)
  const own = openFilesMax()
  assert.ok(own === null || own >= 16)
  assert.equal(connectionsWithin(15_000, 256), 128)
  assert.equal(connectionsWithin(15_000, 1_048_576), 15_000)
  assert.equal(connectionsWithin(15_000, null), 15_000)
})
