import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUserId } from '../../src/domain/ids.ts'
import { Malformed } from '../../src/domain/malformed.ts'

test('a user id has no space at its ends, where a header would lose it, and may have some within', () => {
  assert.equal(parseUserId('Ada of London'), 'Ada of London')
  for (const text of [' ada', 'ada ', ' ', '\u00a0ada', 'ada\u3000'])
    assert.throws(() => parseUserId(text), Malformed, JSON.stringify(text))
})
