// Shares of long searches: together they are the whole, and `npm run search` has the whole everywhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWhole, ofSearch, shareOf } from '../src/search.ts'

const ITEMS = [1, 2, 3, 4, 5, 6, 7]

test('a run has the share of a search, and a search the whole', () => {
  assert.equal(ofSearch(800, 80), isWhole ? 800 : 80)
})

test('the places where a search runs have all of it together, and nothing twice', () => {
  const shares = [0, 1, 2].map(place => shareOf(ITEMS, place, 3))
  if (isWhole) return assert.deepEqual(shares, [ITEMS, ITEMS, ITEMS])
  assert.deepEqual(
    shares.flat().toSorted((a, b) => a - b),
    ITEMS
  )
})
