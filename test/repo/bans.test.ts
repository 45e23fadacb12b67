// No banned word or pattern anywhere, and every ban can find what it bans.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findsIn } from './bans.ts'
import { filesLike, lineOf, textOf } from './repository.ts'

test('nothing banned is in the repository, SQL put together from strings included [S69]', () => {
  const finds = filesLike(/./).flatMap(file => {
    const text = textOf(file)
    return findsIn(file, text).map(
      ({ index, ban }) => `${file}:${lineOf(text, index)} ${text.slice(index, index + 40).split('\n')[0]} → ${ban.instead}`
    )
  })
  assert.deepEqual(finds, [])
})

const VALUE = '$' + '{id}'
const EXAMPLES: readonly (readonly [file: string, text: string, isBanned: boolean])[] = [
  ['packages/core/src/domain/x.ts', 'const at = Date.now()', true],
  ['packages/server/src/compose.ts', 'const clock = { now: () => Date.now() }', false],
  ['packages/brokers/src/kit/x.ts', 'Math.random() * 2', true],
  ['packages/core/test/x.test.ts', 'parseFloat(text)', true],
  ['packages/core/test/x.test.ts', "test.only('x', () => {})", true],
  ['packages/core/test/x.test.ts', "test('x', { skip: true }, () => {})", true],
  ['packages/core/test/x.test.ts', 'assert.deepEqual(page, { skip: 3 })', false],
  ['packages/server/src/store/x.ts', `db.query(\`select * from t where id = ${VALUE}\`)`, true],
  ['packages/server/src/store/x.ts', `sql<Row>\`select * from t where id = ${VALUE}\``, false],
  ['packages/brokers/src/alpaca/x.ts', 'JSON.parse(body)', true],
  ['packages/core/src/domain/json.ts', 'JSON.parse(text)', false],
  ['docs/x.md', 'see /home/somebody/notes', true],
  ['docs/x.md', 'see /homepage and https://host/home/', false],
  ['README.md', 'TODO: write', true]
]

test('every kind of ban finds what it should, and no more', () => {
  for (const [file, text, isBanned] of EXAMPLES) assert.equal(findsIn(file, text).length > 0, isBanned, `${file}: ${text}`)
})
