import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walk } from './conservation.ts'
import { walkContracts } from './contract-walk.ts'

test('money and units are conserved over a million random commands', () => {
  for (let seed = 100; seed < 120; seed++) {
    const { fills, houseFills } = walk(seed, 50_000)
    assert.ok(fills > 5_000 && houseFills > 250, `a walk with ${fills} fills, ${houseFills} among customers, proves nothing`)
  }
})

test('every rule of contracts is kept over two hundred thousand random steps', () => {
  for (let seed = 200; seed < 220; seed++) {
    const { fills, packages } = walkContracts(seed, 10_000, 5)
    assert.ok(fills > 500 && packages > 50, `a walk with ${fills} fills, ${packages} of packages, proves nothing`)
  }
})
