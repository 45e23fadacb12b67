import assert from 'node:assert/strict'
import { test } from 'node:test'
import { distinctIds } from '../src/row-ids.ts'

<<<<<<< HEAD
test('rows that have one id stay distinct, and the older ones keep theirs when another comes', () => {
=======
test('rows that share an id get ids of their own, and the older ones keep theirs when another comes', () => {
>>>>>>> a933ee4d (The console: words; rereading a long list is tested in the browser)
  const ids = distinctIds(['a', 'b', 'a', 'a'])
  assert.equal(new Set(ids).size, 4)
  assert.deepEqual(distinctIds(['a', 'a', 'b', 'a', 'a']).slice(1), ids)
  assert.equal(new Set(distinctIds(['a', 'a', 'a 2', '["a",1]', '["a",2]'])).size, 5)
})
