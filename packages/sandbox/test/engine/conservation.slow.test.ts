import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofSearch } from '@trunkline/testkit/search'
import { walk } from './conservation.ts'
import { walkContracts } from './contract-walk.ts'

const WALKS = ofSearch(20, 2)

test(`money and units are conserved over ${WALKS} walks of fifty thousand random commands`, () => {
  for (let seed = 100; seed < 100 + WALKS; seed++) {
    const { fills, customerFills } = walk(seed, 50_000)
    assert.ok(fills > 5_000 && customerFills > 250, `a walk with ${fills} fills, ${customerFills} among customers, proves nothing`)
  }
})

test(`every rule of contracts holds over ${WALKS} walks of ten thousand random steps`, () => {
  for (let seed = 200; seed < 200 + WALKS; seed++) {
    const { fills, multiLegs } = walkContracts(seed, 10_000, 5)
    assert.ok(fills > 500 && multiLegs > 50, `a walk with ${fills} fills, ${multiLegs} of multi-leg orders, proves nothing`)
  }
})
