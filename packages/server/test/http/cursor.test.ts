import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import fc from 'fast-check'
import { Cursors } from '../../src/http/cursor.ts'

const keyed = (key: string) => new Cursors({ derive: text => createHmac('sha256', key).update(text).digest() })
const cursors = keyed('one')
const NONE = { limit: undefined, next_cursor: undefined, prev_cursor: undefined }
const isInvalid = (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid'

function issue(key: readonly string[], scope: readonly unknown[]): { readonly next: string; readonly prev: string } {
  const { next_cursor: next, prev_cursor: prev } = cursors.envelope({ rows: [], next: key, prev: key }, scope, row => row)
  assert.ok(next !== null && prev !== null)
  return { next, prev }
}

test('a cursor returns to the row and direction that it was made for', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
        { minLength: 1, maxLength: 3 }
      ),
      fc.nat(),
      (key, scope) => {
        const { next, prev } = issue(key, [scope])
        assert.deepEqual(cursors.request({ ...NONE, limit: 7, next_cursor: next }, [scope], 50, true), {
          limit: 7,
          descending: true,
          edge: { side: 'after', key }
        })
        assert.deepEqual(cursors.request({ ...NONE, prev_cursor: prev }, [scope], 50, false), {
          limit: 50,
          descending: false,
          edge: { side: 'before', key }
        })
      }
    )
  )
})

test('without a cursor a list starts at the beginning', () => {
  assert.deepEqual(cursors.request(NONE, ['x'], 50, true), { limit: 50, descending: true, edge: null })
})

test('both cursors at once are refused', () => {
  const { next, prev } = issue(['a'], ['x'])
  assert.throws(() => cursors.request({ ...NONE, next_cursor: next, prev_cursor: prev }, ['x'], 50, true), isInvalid)
})

test('a cursor is valid only for its own list', () => {
  const { next, prev } = issue(['2026-11-21', 'id'], ['orders', 'ada', { side: 'BUY' }])
  const elsewhere = [
    ['users', 'ada', { side: 'BUY' }],
    ['orders', 'bob', { side: 'BUY' }],
    ['orders', 'ada', { side: 'SELL' }],
    ['orders', 'ada', {}]
  ]
  for (const scope of elsewhere) assert.throws(() => cursors.request({ ...NONE, next_cursor: next }, scope, 50, true), isInvalid)
  const scope = ['orders', 'ada', { side: 'BUY' }]
  assert.throws(() => cursors.request({ ...NONE, next_cursor: prev }, scope, 50, true), isInvalid, 'the other direction')
  assert.throws(() => keyed('two').request({ ...NONE, next_cursor: next }, scope, 50, true), isInvalid, 'another instance')
})

test('an altered cursor is refused', () => {
  const scope = ['orders']
  const { next } = issue(['2026-11-21T14:30:00.000000Z', 'id'], scope)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. '
  fc.assert(
    fc.property(
      fc.nat(next.length - 1),
      fc.constantFrom(...alphabet),
      fc.constantFrom('replace', 'insert', 'cut'),
      (at, character, how) => {
        const altered = next.slice(0, at) + (how === 'cut' ? '' : character) + next.slice(how === 'insert' ? at : at + 1)
        fc.pre(altered !== next)
        assert.throws(() => cursors.request({ ...NONE, next_cursor: altered }, scope, 50, true), isInvalid)
      }
    ),
    { numRuns: 1_000 }
  )
  for (const nonsense of ['', '.', 'x', 'null', next + next, `${next}=`, 'A'.repeat(100_000)]) {
    assert.throws(() => cursors.request({ ...NONE, next_cursor: nonsense }, scope, 50, true), isInvalid)
  }
})
