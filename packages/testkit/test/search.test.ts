// Shares of long searches: together they are the whole, and `npm run search` has the whole everywhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everyNthTest, isWhole, ofSearch, rotationOf, shareOf } from '../src/search.ts'

const ITEMS = [1, 2, 3, 4, 5, 6, 7]

test('a run has the share of a search, and a search the whole', () => {
  assert.equal(ofSearch(800, 80), isWhole ? 800 : 80)
})

test('the runners of a search have all of it together, and nothing twice', () => {
  const shares = [0, 1, 2].map(shard => shareOf(ITEMS, shard, 3))
  if (isWhole) return assert.deepEqual(shares, [ITEMS, ITEMS, ITEMS])
  assert.deepEqual(
    shares.flat().toSorted((a, b) => a - b),
    ITEMS
  )
})

test('of every three tests another one runs each day, all of them in three, and a run says which', () => {
  const runs = [0, 1, 2, 3].map(at => {
    const titles: string[] = []
    const declare = everyNthTest(3, at, Object(Object.assign((title: string) => void titles.push(title), {})))
    for (const title of 'abcdefg') declare(title, async () => undefined)
    return titles
  })
  if (isWhole) return assert.ok(runs.every(titles => titles.join('') === 'abcdefg'))
  const [first, ...rest] = runs
  assert.match(first?.[0] ?? '', /of each 3 tests number 1 runs: TRUNKLINE_TURN=0 runs the same/)
  assert.deepEqual(
    [first, ...rest].map(titles => titles?.slice(1).join('')),
    ['adg', 'be', 'cf', 'adg']
  )
})

test('the rotation is the day, or what is set', () => {
  assert.equal(rotationOf({}, 86_400_000 * 5 + 1), 5)
  assert.equal(rotationOf({ TRUNKLINE_TURN: '7' }, 0), 7)
  assert.throws(() => rotationOf({ TRUNKLINE_TURN: 'x' }), /TRUNKLINE_TURN must be a whole number/)
})
