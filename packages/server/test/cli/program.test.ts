// The command line as an operator uses it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { directory } from '../admin/support.ts'
import { cli } from './terminal.ts'

const PROGRAM = new URL('../../src/cli.ts', import.meta.url).pathname

test('help names every command, and each command explains itself', async () => {
  const { code, out } = await cli({}, '--help')
  assert.equal(code, 0)
  for (const word of ['check-config', 'platform', 'keys', 'orders', 'audit', 'docs', 'npm run cli -- ']) assert.ok(out.includes(word), word)
  const commands = [
    ['check-config'],
    ['platform', 'create'],
    ['platform', 'list'],
    ['platform', 'rotate-secret'],
    ['keys', 'rotate'],
    ['keys', 'status'],
    ['orders', 'unresolved'],
    ['orders', 'never-received'],
    ['orders', 'never-received-all']
  ]
  for (const command of [...commands, ['keys', 'generate'], ['audit', 'verify'], ['audit', 'list'], ['docs']]) {
    const help = await cli({}, ...command, '--help')
    assert.equal(help.code, 0)
    assert.match(help.out, new RegExp(`Usage: npm run cli -- ${command.join(' ')}`))
  }
})

const KEY = ['platform', 'key', 'create', 'pk_x', '--name', 'x', '--scope', 'read']

test('invalid arguments are explained, with exit code 2', async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['platform'], /Usage: npm run cli -- platform/],
    [['platform', 'create'], /required option '--name/],
    [['platform', 'rotate-secret'], /missing required argument/],
    [['keys', 'rotate', '--fast'], /unknown option '--fast'/],
    [['keys', 'rotate', '--now'], /--now can only be used with --retire/],
    [['orders', 'never-received', 'x'], /required option '--because/],
    [['orders', 'never-received-all', '--broker', 'x'], /required option '--because/],
    [['orders', 'unresolved', '--limit', '0'], /whole number/],
    [['audit', 'list', '--limit', '0'], /whole number/],
    [['audit', 'verify', '--kept', 'x'], /position:hash/],
    ...['2027-01-01', '2027-01-01T00:00Z', '2027-01-01 00:00:00Z', '2027-02-30T00:00:00Z'].flatMap(time => [
      [
        [...KEY, '--expires', time],
        /'--expires <time>' argument .* is invalid. the time must be an RFC 3339 date-time with seconds and an offset, such as/
      ] as const,
      [['audit', 'export', '--from', time], /'--from <time>' .* RFC 3339/] as const,
      [['audit', 'export', '--to', time], /'--to <time>' .* RFC 3339/] as const
    ])
  ]
  for (const [args, expected] of cases) {
    const { code, err } = await cli({ TRUNKLINE_DATA_DIR: '/nonexistent' }, ...args)
    assert.equal(code, 2, args.join(' '))
    assert.match(err, expected)
  }
})

test('invalid settings are reported all at once, with exit code 2', async () => {
  const { code, err } = await cli({ TRUNKLINE_PORT: 'x', TRUNKLINE_DATABASE_URL: 'mysql://a:canary@b' }, 'platform', 'list')
  assert.equal(code, 2)
  assert.match(err, /TRUNKLINE_PORT/)
  assert.match(err, /TRUNKLINE_DATABASE_URL/)
  assert.doesNotMatch(err, /canary/)
})

test('the program runs as a process and returns its exit code', context => {
  const dataDir = directory(context)
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [PROGRAM, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', TRUNKLINE_DATA_DIR: dataDir }
    })
  const generated = run('keys', 'generate')
  assert.equal(generated.status, 0)
  assert.match(generated.stdout, /^k[0-9a-f]{12}:[A-Za-z0-9+/]{43}=\n$/)
  assert.equal(generated.stderr, '')
  const refused = run('audit', 'list')
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /There is no database in .* yet/)
})
