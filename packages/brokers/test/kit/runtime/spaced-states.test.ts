import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SpacedStates } from '../../../src/kit/runtime/spaced-states.ts'
import { VirtualClock } from '../../support/clocks.ts'

function spaced() {
  const clock = new VirtualClock()
  const published: string[] = []
  const states = new SpacedStates<string>({ clock, spacingMs: 250, publish: state => published.push(state) })
  return { clock, published, states }
}

test('the first state is published at once, and of those that follow the newest when the time is over', async () => {
  const { clock, published, states } = spaced()
  for (const state of ['a1', 'a2', 'a3']) states.put('a', state)
  assert.deepEqual(published, ['a1'])
  await clock.advance(249)
  assert.deepEqual(published, ['a1'])
  await clock.advance(1)
  assert.deepEqual(published, ['a1', 'a3'])
  states.put('a', 'a4')
  await clock.advance(250)
  assert.deepEqual(published, ['a1', 'a3', 'a4'], 'and so on')
})

test('a state after a quiet time is published at once, and keys do not wait for each other', async () => {
  const { clock, published, states } = spaced()
  states.put('a', 'a1')
  states.put('b', 'b1')
  await clock.advance(250)
  states.put('a', 'a2')
  assert.deepEqual(published, ['a1', 'b1', 'a2'])
})

test('at the end what waits is dropped', async () => {
  const { clock, published, states } = spaced()
  states.put('a', 'a1')
  states.put('a', 'a2')
  states[Symbol.dispose]()
  await clock.advance(1_000)
  assert.deepEqual(published, ['a1'])
})

test('a state that is held waits until it is released, and no longer than between two', async () => {
  const { clock, published, states } = spaced()
  states.hold('a')
  states.put('a', 'a1')
  states.put('a', 'a2')
  assert.deepEqual(published, [])
  states.release('a')
  assert.deepEqual(published, ['a2'])
  await clock.advance(250)
  states.hold('a')
  states.put('a', 'a3')
  await clock.advance(250)
  assert.deepEqual(published, ['a2', 'a3'])
  states.put('a', 'a4')
  states.release('a')
  assert.deepEqual(published, ['a2', 'a3', 'a4'], 'a release does not wait for the time either')
})
