import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distinctIds } from '../src/row-ids.ts'

test('rows that share an id get ids of their own, and the older ones keep theirs when another comes', () => {
  const ids = distinctIds(['a', 'b', 'a', 'a'])
  assert.equal(new Set(ids).size, 4)
  assert.deepEqual(distinctIds(['a', 'a', 'b', 'a', 'a']).slice(1), ids)
  assert.equal(new Set(distinctIds(['a', 'a', 'a 2', '["a",1]', '["a",2]'])).size, 5)
})
