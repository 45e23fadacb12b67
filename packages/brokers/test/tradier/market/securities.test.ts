import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readObject } from '../../../src/kit/json.ts'
import { securityOf } from '../../../src/tradier/market.ts'
import { items } from '../../../src/tradier/quirks.ts'

const SHARE = { symbol: 'BRK/B', exchange: 'N', type: 'stock', description: 'Berkshire Hathaway Inc' }

function found(securities: unknown) {
  return items(readObject(JSON.stringify({ securities })), 'securities', 'security').flatMap(wire => securityOf(wire) ?? [])
}

test('securities come in our spelling, in each form that a list can have', () => {
  const share = { symbol: 'BRK.B', instrument: 'STK', name: 'Berkshire Hathaway Inc', exchange: 'N' }
  assert.deepEqual(found({ security: SHARE }), [share])
  assert.deepEqual(found({ security: [SHARE] }), [share])
  for (const securities of [null, 'null', {}]) assert.deepEqual(found(securities), [])
})

test('what has no data here, or no symbol of ours, is left out, and an answer about something else is not nothing', () => {
  const others = [
    { ...SHARE, type: 'mutual_fund', symbol: 'VFIAX' },
    { ...SHARE, type: 'option', symbol: 'SPY261218C00600000' },
    { ...SHARE, symbol: 'A B' },
    { symbol: 'SPX', type: 'index' }
  ]
  assert.deepEqual(found({ security: others }), [{ symbol: 'SPX', instrument: 'STK', name: null, exchange: null }])
  for (const answer of [{}, { quotes: null }]) assert.throws(() => items(answer, 'securities', 'security'), { name: 'Malformed' })
  assert.throws(() => found({ security: [{ type: 'stock' }] }), { name: 'Malformed' })
})
