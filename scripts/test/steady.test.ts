// `npm run steady`: its report of tests that pass only in some rounds, its load and its arguments.
import assert from 'node:assert/strict'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { parseSteadyOptions } from '../testing/options.ts'
import { Rounds } from '../testing/rounds.ts'
import type { FileResult } from '../testing/run-file.ts'
import { outputOf } from './program.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')

function result(path: string, passed: number, ...failed: readonly string[]): FileResult {
  const failures = failed.map(name => ({ name, line: 7, details: `Error: ${name}\n  went wrong` }))
  return { path, passed, failures, durationMs: 1, processorMs: 1, output: '', results: [] }
}

test('tests that failed in some rounds are listed by frequency, with their count and first message', () => {
  const rounds = new Rounds()
  for (let round = 1; round <= 3; round += 1) {
    rounds.add(round === 2 ? result('a.test.ts', 1, 'seldom') : result('a.test.ts', 2))
    rounds.add(round === 3 ? result('b.test.ts', 2) : result('b.test.ts', 1, 'often'))
    rounds.ended()
  }
  assert.ok(!rounds.isSteady)
  assert.equal(
    rounds.summary('under load', 'kept'),
    [
      'Unsteady (the outputs are in kept):',
      '  2 of 3  b.test.ts:7 › often',
      '          Error: often went wrong',
      '  1 of 3  a.test.ts:7 › seldom',
      '          Error: seldom went wrong',
      '',
      '3 rounds, 9 tests passed, 2 unsteady (under load).'
    ].join('\n')
  )
})

test('rounds are steady if something ran and everything passed every time', () => {
  const rounds = new Rounds()
  assert.ok(!rounds.isSteady, 'nothing ran')
  rounds.add(result('a.test.ts', 2))
  assert.ok(!rounds.isSteady, 'no round has ended')
  rounds.ended()
  assert.ok(rounds.isSteady)
  rounds.impossible('b.test.ts', 'no browser')
  assert.ok(!rounds.isSteady, 'a file could not run')
})

test('the command runs its files under load in several rounds and exits', async () => {
  const args = [
    join(ROOT, 'scripts/testing/steady.ts'),
    '--rounds',
    '2',
    '--hogs',
    '1',
    '--workers',
    '2',
    'core/test/domain/symbol.test.ts'
  ]
  const { code, stdout } = await outputOf(process.execPath, args)
  assert.equal(code, 0, stdout)
  assert.match(stdout, /round 2 of 2: 1 files? in 2 workers, beside 1 busy threads/)
  assert.match(stdout, /\n2 rounds, 10 tests passed, 0 unsteady \(seed 1, 2 workers, 1 busy threads\)\.\n$/)
})

test('its arguments are validated, and --help prints them', async () => {
  assert.deepEqual(parseSteadyOptions(['--rounds', '5', '--workers', '3', '--hogs', '0', 'kit']), {
    groups: [],
    filters: ['kit'],
    rounds: 5,
    workers: 3,
    hogs: 0,
    seed: 1
  })
  for (const wrong of ['0', '-1', 'x', '1.5', '9999']) assert.throws(() => parseSteadyOptions([`--rounds=${wrong}`]), /--rounds must be/)
  const { code, stdout } = await outputOf(process.execPath, [join(ROOT, 'scripts/testing/steady.ts'), '--help'])
  assert.equal(code, 0)
  assert.match(stdout, /--rounds 10[\s\S]*--hogs/)
})
