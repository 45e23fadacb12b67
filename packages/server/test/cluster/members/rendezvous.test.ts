// The division of the partitions among the nodes: the same everywhere, fairly even, and stable.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NodeId, parseUuid } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, PARTITIONS } from '@trunkline/core/domain/partition'
import fc from 'fast-check'
import { division } from '../../../src/cluster/members/rendezvous.ts'

const nodes = fc.uniqueArray(
  fc.uuid().map(text => parseUuid<NodeId>(text, 'node')),
  { minLength: 1, maxLength: 12 }
)

test('every partition has one owner among the nodes, whatever the order in which they are listed', () => {
  fc.assert(
    fc.property(nodes, ids => {
      const shares = division(ids)
      assert.equal(shares.size, PARTITIONS)
      for (const partition of ALL_PARTITIONS) assert.ok(ids.some(id => id === shares.get(partition)))
      assert.deepEqual(division(ids.toReversed()), shares)
    })
  )
  assert.equal(division([]).size, 0)
})

test('a node that joins or leaves moves only its own share', () => {
  fc.assert(
    fc.property(nodes, fc.uuid(), (ids, text) => {
      const joining = parseUuid<NodeId>(text, 'node')
      fc.pre(!ids.includes(joining))
      const [without, together] = [division(ids), division([...ids, joining])]
      for (const partition of ALL_PARTITIONS)
        if (together.get(partition) !== joining) assert.equal(together.get(partition), without.get(partition))
    })
  )
})

test('the shares of nodes are about equal', () => {
  // 256 partitions fall on three nodes as if by chance: a share of under 50 or over 125 has a probability of about one in a million.
  const ids = Array.from({ length: 3 }, (_, index) => parseUuid<NodeId>(`0192f0c1-7a3e-7b52-9c1d-00000000000${index}`, 'node'))
  const shares = [...division(ids).values()]
  for (const id of ids) {
    const share = shares.filter(owner => owner === id).length
    assert.ok(share >= 50 && share <= 125, `${share} partitions`)
  }
})
