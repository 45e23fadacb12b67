import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeFrom, codeIn } from '../src/login-code.ts'
import { filtersOf, filtersText, parseFilters } from '../src/search-text.ts'

test('ids in the address stay text, with their zeros, quotes and spaces', () => {
  for (const user of ['007', '1e3', 'true', 'null', '"x"', 'a b+c&d=e%20', '{"a":1}', 'ü'])
    assert.deepEqual(parseFilters(filtersText({ user })), { user })
  assert.equal(filtersText({ user: '', after: undefined }), '')
})

test('a page takes the filters that it knows, and no empty ones', () => {
  assert.deepEqual(filtersOf(['user', 'after'])({ user: '007', other: 'x', after: '' }), { user: '007' })
  assert.deepEqual(filtersOf(['user'])({ user: 7 }), {})
})

test('the code is taken from a fragment, a pasted link, or pasted alone', () => {
  assert.equal(codeIn('#code=abc-_1'), 'abc-_1')
  for (const fragment of ['', '#', '#content', '#code=', '#code=%20']) assert.equal(codeIn(fragment), null, fragment)
  assert.equal(codeFrom(' http://127.0.0.1:8080/console/#code=abc \n'), 'abc')
  assert.equal(codeFrom(' abc '), 'abc')
})
