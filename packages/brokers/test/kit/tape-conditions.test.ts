import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectOf } from '../../src/kit/tape-conditions.ts'

test('what a trade moves follows from its conditions', () => {
  const effects = [
    effectOf(['@'], 'C'),
    effectOf(['@', 'I'], 'C'),
    effectOf(['@', 'F', 'T'], 'C'),
    effectOf(['M'], 'A'),
    effectOf([' ', 'I', 'Q'], 'C'),
    effectOf(['B'], 'A'),
    effectOf(['B'], 'C'),
    effectOf(null, 'C'),
    effectOf([5], 'C')
  ]
  assert.deepEqual(effects, ['all', 'volume', 'all', 'none', 'none', 'volume', 'all', 'all', 'all'])
})
