import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNewUserId, parseUserId } from '../../src/domain/ids.ts'
import { Malformed } from '../../src/domain/malformed.ts'

test('a user id has no space at its ends, where a header would lose it, and may have some within', () => {
  assert.equal(parseUserId('Ada of London'), 'Ada of London')
  for (const text of [' ada', 'ada ', ' ', '\u00a0ada', 'ada\u3000'])
    assert.throws(() => parseUserId(text), Malformed, JSON.stringify(text))
})

test('a new user is not called . or .., which clients drop from an address; dots among others are as good as any', () => {
  for (const text of ['.', '..']) assert.throws(() => parseNewUserId(text), /no address can carry/)
  for (const text of ['...', '.a', 'a.b']) assert.equal(parseNewUserId(text), text)
  assert.throws(() => parseNewUserId(' '), Malformed)
})
