import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNewUserId, parseUserId } from '../../src/domain/ids.ts'
import { Malformed } from '../../src/domain/malformed.ts'

test('a user id has no space at its ends, where a header would drop it, but may have some inside', () => {
  assert.equal(parseUserId('Ada of London'), 'Ada of London')
  for (const text of [' ada', 'ada ', ' ', '\u00a0ada', 'ada\u3000'])
    assert.throws(() => parseUserId(text), Malformed, JSON.stringify(text))
})

test('a new user cannot be called . or .., which clients remove from an address; other names with dots are allowed', () => {
  for (const text of ['.', '..']) assert.throws(() => parseNewUserId(text), /no address can carry/)
  for (const text of ['...', '.a', 'a.b']) assert.equal(parseNewUserId(text), text)
  assert.throws(() => parseNewUserId(' '), Malformed)
})
