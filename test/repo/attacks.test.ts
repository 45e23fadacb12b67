// The table of attacks agrees with the titles of tests, and every id in a title is one of the list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AREAS, ATTACKS } from '../../scripts/attacks/list.ts'
import { attacksPage, stateOf } from '../../scripts/attacks/table.ts'
import { testsByAttack } from '../../scripts/attacks/titles.ts'
import { FILES, textOf } from './repository.ts'

const TESTS = testsByAttack(
  FILES.filter(file => file !== 'test/repo/attacks.test.ts'),
  textOf
)

test('the list of attacks has every id once, in order', () => {
  assert.deepEqual(
    ATTACKS.map(({ id }) => id),
    Array.from({ length: 98 }, (_, index) => `S${index + 1}`)
  )
})

test('every attack that a title names is in the list', () => {
  const known = new Set(ATTACKS.map(({ id }) => id))
  const unknown = [...TESTS].filter(([id]) => !known.has(id)).map(([id, tests]) => `${id}: ${tests.map(({ file }) => file).join(', ')}`)
  assert.deepEqual(unknown, [])
})

test('the page of attacks is fresh, and every attack has a test, a part of the project that brings it, or a stated reason', () => {
  assert.equal(textOf('docs/attacks.md'), attacksPage(AREAS, TESTS), 'run: npm run attacks')
  const unexplained = ATTACKS.filter(attack => stateOf(attack, TESTS.get(attack.id) ?? []) === 'open' && attack.open === undefined)
  assert.deepEqual(
    unexplained.map(({ id }) => id),
    [],
    'end the title of the test that covers it with its id, or say in scripts/attacks/list.ts why there is none'
  )
})

test('ids are read from the ends of titles, of strings and of templates', () => {
  const text = ["test('one [S1]', f)", 'test(`C10: it\\`s two [S2, S3]`, f)', "see('[S4]')", "test('a [S5] b', f)"].join('\n')
  const found = testsByAttack(['test/x.test.ts'], () => text)
  assert.deepEqual(
    [...found].map(([id, tests]) => [id, tests.map(({ title }) => title)]),
    [
      ['S1', ['one']],
      ['S2', ['C10: it\\`s two']],
      ['S3', ['C10: it\\`s two']]
    ]
  )
})

test('an attack is tested, later or open, and the page counts them', () => {
  const attack = { id: 'S1', attack: 'a', outcome: 'b' }
  const named = [{ file: 'test/x.test.ts', title: 'a | b' }]
  assert.equal(stateOf(attack, []), 'open')
  assert.equal(stateOf(attack, named), 'tested')
  assert.equal(stateOf({ ...attack, later: 'x' }, []), 'later')
  assert.equal(stateOf({ ...attack, open: 'half of it' }, named), 'open')
  const page = attacksPage([{ title: 'All', attacks: [attack] }], new Map([['S1', named]]))
  assert.match(page, /Of 1 attacks 1 are tested, 0 come later, 0 are open\./)
  assert.match(page, /\| S1 \| a \| b \| tested \| \[x\]\(\.\.\/test\/x\.test\.ts\): a \\\| b \|/)
})
