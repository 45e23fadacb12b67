import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walk } from './conservation.ts'

// Longer walks are in conservation.slow.test.ts.
test('money and units are conserved over fifty thousand random commands', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const { fills, houseFills } = walk(seed, 10_000)
    assert.ok(fills > 1_000 && houseFills > 50, `a walk with ${fills} fills, ${houseFills} among customers, proves nothing`)
  }
})
