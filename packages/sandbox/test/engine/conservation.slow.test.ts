import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walk } from './conservation.ts'

test('money and units are conserved over a million random commands', () => {
  for (let seed = 100; seed < 120; seed++) {
    const { fills, houseFills } = walk(seed, 50_000)
    assert.ok(fills > 5_000 && houseFills > 250, `a walk with ${fills} fills, ${houseFills} among customers, proves nothing`)
  }
})
