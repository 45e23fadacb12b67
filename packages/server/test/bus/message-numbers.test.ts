import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageNumbers } from '../../src/bus/message-numbers.ts'

const HOUR_MS = 3_600_000
/** More than one node that crashes every five seconds makes in a day. */
const MANY = 65_536

test('nodes that end and start for days do not keep a new one from being heard', () => {
  let nowMs = 0
  const logged: string[] = []
  const numbers = new MessageNumbers({ monotonicMs: () => nowMs }, { error: message => void logged.push(message) })
  assert.equal(numbers.isNew('steady', 1), true)
  for (let node = 0; node <= MANY; node += 1) {
    nowMs += 5_000
    if (!numbers.isNew(`crashing ${node}`, 1) || !numbers.isNew('steady', node + 2)) assert.fail(`node ${node} was not heard`)
  }
  assert.equal(numbers.isNew('steady', 2), false, 'what is heard is not forgotten')
  assert.equal(numbers.isNew(`crashing ${MANY}`, 1), false)
  assert.deepEqual(logged, [])
})

test('too many nodes in a day: the further ones are not heard until the first were silent for a day, and the log says so each hour', () => {
  let nowMs = 0
  const logged: string[] = []
  const numbers = new MessageNumbers({ monotonicMs: () => nowMs }, { error: message => void logged.push(message) })
  for (let node = 0; node < MANY; node += 1) numbers.isNew(`early ${node}`, 1)
  for (let hour = 1; hour < 24; hour += 1) {
    nowMs = hour * HOUR_MS
    assert.equal(numbers.isNew('late', 1), false)
    assert.equal(numbers.isNew('late', 2), false)
  }
  assert.equal(logged.length, 23)
  assert.equal(numbers.isNew('early 0', 1), false)
  assert.equal(numbers.isNew('early 0', 2), true)
  nowMs = 24 * HOUR_MS
  assert.equal(numbers.isNew('late', 1), true)
  assert.equal(numbers.isNew('early 0', 2), false, 'one that spoke meanwhile is still known')
})
