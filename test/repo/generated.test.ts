// Pages that are generated are never edited: they are what the generator writes now.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesBelow } from '../../scripts/testing/files.ts'
import { FILES, ROOT, textOf } from './repository.ts'

const GENERATED = FILES.filter(file => file === 'docs/settings.md' || /^docs\/brokers\/[^/]+\.md$/.test(file))
const CLIENT = FILES.filter(file => file.startsWith('packages/client/src/generated/'))
const BUILT = FILES.filter(file => file.startsWith('packages/client/dist/'))
const CONSOLE = FILES.filter(file => file.startsWith('packages/console/dist/'))
const CONSOLE_TYPES = FILES.filter(file => file.startsWith('packages/console/src/generated/'))
/** What is counted: everything else is text. */
const COUNTS = [
  'after',
  'attempt',
  'attempts',
  'backfill_max',
  'backfill_nbars',
  'bars_max',
  'days_max',
  'expires_in',
  'from_seq',
  'last_seq',
  'limit',
  'n_levels',
  'next_after',
  'oldest_seq',
  'overlap_hours',
  'records_left_out',
  'remaining',
  'request_bytes',
  'revision',
  'seq',
  'status',
  'to_seq',
  'took_ms',
  'updates',
  'users'
]

/** Of the sandbox's controls: how many, how long and which status. */
const SANDBOX_COUNTS = [
  ...['accepted', 'access_seconds', 'advance_ms', 'code', 'faults', 'grants', 'hits', 'left', 'logins', 'ms', 'open', 'paid'],
  ...['received', 'refresh_grace_ms', 'retry_after', 'skip', 'streams', 'times', 'window']
]

test('the generated types and operations of the client are fresh', () => {
  assert.deepEqual(freshFrom(['scripts/client/generate.ts'], 'packages/client/src/generated'), presentIn(CLIENT), 'run: npm run generate')
})

test('the built client is fresh', () => {
  assert.deepEqual(freshFrom(['scripts/client/build.ts'], 'packages/client/dist'), presentIn(BUILT), 'run: npm run client')
})

test('the generated types of the console are fresh', () => {
  assert.deepEqual(
    freshFrom(['scripts/console/generate.ts'], 'packages/console/src/generated'),
    presentIn(CONSOLE_TYPES),
    'run: npm run console'
  )
})

test('the built console is fresh', () => {
  assert.deepEqual(freshFrom(['scripts/console/build.ts'], 'packages/console/dist'), presentIn(CONSOLE), 'run: npm run console')
})

test('no amount of money or quantity, and no `ts`, is a number in the types of the client', () => {
  assert.deepEqual(numbersIn(CLIENT), COUNTS)
})

test('nor in those of the console', () => {
  assert.deepEqual(
    numbersIn(CONSOLE_TYPES).filter(name => !COUNTS.includes(name)),
    [...SANDBOX_COUNTS, 'fitting', 'older_than_hours', 'position', 'requests', 'unresolved_orders', 'waiting'].toSorted()
  )
})

/** The names of members that are numbers. */
function numbersIn(files: readonly string[]): readonly string[] {
  const names = files.flatMap(file => [...textOf(file).matchAll(/readonly (\w+)\??: (?:readonly )?number/g)].map(([, name = '']) => name))
  return [...new Set(names)].sort()
}

test('the generated pages are fresh', () => {
  assert.ok(existsSync(join(ROOT, 'packages/server/src/cli.ts')), 'the generator: packages/server/src/cli.ts')
  assert.deepEqual(presentIn(GENERATED), freshFrom(['packages/server/src/cli.ts', 'docs'], 'docs'), 'run: npm run cli -- docs')
})

function presentIn(files: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(files.map(file => [file, textOf(file)]))
}

/** What a generator writes now, under the names that the files have in `home`. */
function freshFrom([program = '', ...options]: readonly string[], home: string): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-docs-'))
  try {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, program), ...options, '--out', folder], {
      encoding: 'utf8',
      cwd: ROOT
    })
    assert.equal(status, 0, stderr)
    return Object.fromEntries(filesBelow(folder).map(file => [`${home}/${file}`, readFileSync(join(folder, file), 'utf8')]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
