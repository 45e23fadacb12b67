// Which test files a command line asks for.
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
  ...more
})
const FILES = [
  file('a/plain.test.ts'),
  file('a/stored.test.ts', { needs: new Set(['postgres']) }),
  file('a/seeds.slow.test.ts', { group: 'slow', searches: true }),
  file('a/runs.test.ts', { searches: true })
]
const asked = (...args: readonly string[]) => select(FILES, parseOptions(args)).map(({ path }) => path.slice(2, path.indexOf('.')))

test('groups, words of paths, what needs nothing, and what searches', () => {
  assert.deepEqual(asked(), ['plain', 'stored', 'seeds', 'runs'])
  assert.deepEqual(asked('--group', 'slow'), ['seeds'])
  assert.deepEqual(asked('plain', './a/runs'), ['plain', 'runs'])
  assert.deepEqual(asked('--quick'), ['plain', 'runs'])
  assert.deepEqual(asked('--search'), ['seeds', 'runs'])
  assert.deepEqual(asked('--search', 'seeds'), ['seeds'])
  assert.throws(() => asked('--group', 'none'), /There is no group "none"/)
})
