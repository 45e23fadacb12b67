import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walk } from './conservation.ts'

// Longer walks are in conservation.slow.test.ts.
test('money and units are conserved over fifty thousand random commands', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const { fills, customerFills } = walk(seed, 10_000)
    assert.ok(fills > 1_000 && customerFills > 50, `a walk with ${fills} fills, ${customerFills} among customers, proves nothing`)
  }
})
