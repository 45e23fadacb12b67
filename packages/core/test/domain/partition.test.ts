import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUuid, type UserKey } from '../../src/domain/ids.ts'
import { ALL_PARTITIONS, PARTITIONS, parsePartition, partitionOf } from '../../src/domain/partition.ts'

test('a user belongs to the partition that the last byte of the key names', () => {
  const of = (end: string) => partitionOf(parseUuid<UserKey>(`0192f0c1-7a3e-7b52-9c1d-3f5a9b7e11${end}`, 'user key'))
  assert.equal(of('00'), 0)
  assert.equal(of('0a'), 10)
  assert.equal(of('7f'), 127)
  assert.equal(of('ff'), 255)
})

test('there are 256 partitions, and no other number is one', () => {
  assert.equal(ALL_PARTITIONS.length, PARTITIONS)
  assert.deepEqual([ALL_PARTITIONS[0], ALL_PARTITIONS[255]], [0, 255])
  for (const wrong of [-1, 256, 0.5, Number.NaN, '1', null]) assert.throws(() => parsePartition(wrong), { name: 'Malformed' })
})
