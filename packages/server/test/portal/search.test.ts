import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSearched, searchIn } from '../../src/portal/search.ts'

test('a broker is found by words of its name or its id, regardless of case, accents and order', () => {
  const broker = { id: 'LONGNAME', name: 'The Amalgamated Société (Lower Saxony)' }
  for (const found of ['', 'amal', 'SOCIETE', 'société', 'saxony the', 'longname', '  lower ']) assert.ok(isSearched(broker, found), found)
  for (const other of ['amal q', '.*', 'saxonyy']) assert.ok(!isSearched(broker, other), other)
})

test('the search is one short text', () => {
  assert.equal(searchIn({ search: ' al ' }), 'al')
  assert.equal(searchIn({ search: 'x'.repeat(10_000) }).length, 64)
  for (const query of [null, undefined, {}, { search: ['a', 'b'] }, { search: 1 }]) assert.equal(searchIn(query), '')
})
