// The test files that a command line selects.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestFile } from '../testing/files.ts'
import { parseOptions, select } from '../testing/options.ts'

const file = (path: string, more: Partial<TestFile> = {}): TestFile => ({
  path,
  group: 'unit',
  needs: new Set(),
  waits: false,
  searches: false,
  shares: false,
  quick: false,
  ...more
})
const FILES = [
  file('a/plain.test.ts', { shares: true, quick: true }),
  file('a/starts.test.ts'),
  file('a/rule.test.ts', { group: 'repo', quick: true }),
  file('a/stored.test.ts', { needs: new Set(['postgres']) }),
  file('a/seeds.slow.test.ts', { group: 'slow', searches: true }),
  file('a/runs.test.ts', { searches: true })
]
const selected = (...args: readonly string[]) => select(FILES, parseOptions(args)).map(({ path }) => path.slice(2, path.indexOf('.')))

test('selection by groups, parts of paths, needs and searches', () => {
  assert.deepEqual(selected(), ['plain', 'starts', 'rule', 'stored', 'seeds', 'runs'])
  assert.deepEqual(selected('--group', 'slow'), ['seeds'])
  assert.deepEqual(selected('plain', './a/runs'), ['plain', 'runs'])
  assert.deepEqual(selected('--quick'), ['plain', 'rule'])
  assert.deepEqual(selected('--search'), ['seeds', 'runs'])
  assert.deepEqual(selected('--search', 'seeds'), ['seeds'])
  assert.throws(() => selected('--group', 'none'), /There is no group "none"/)
})
