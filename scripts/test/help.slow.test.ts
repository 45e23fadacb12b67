// Every command of package.json prints its usage for --help, and does nothing else.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { outputOf } from './program.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
/** A command that ignores --help would do its work instead. */
const PATIENCE_MS = 120_000
const scripts: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts

for (const [name, command] of Object.entries(scripts)) {
  test(`npm ${name === 'start' || name === 'test' ? name : `run ${name}`} -- --help`, async () => {
    const [node, ...args] = command.split(' ')
    assert.equal(node, 'node')
    const { code, stdout, stderr } = await outputOf(process.execPath, [...args, '--help'], { cwd: ROOT, timeout: PATIENCE_MS })
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /\bnpm (run [\w:]+|start|test)\b/, stdout)
    assert.ok(stdout.length > 100, stdout)
  })
}

test('a bench whose other programs are missing, or whose options are invalid, prints a message without a stack', async () => {
  const odd = await outputOf(process.execPath, ['scripts/run.mjs', 'bench/main.ts', 'market', '--only', 'nothing'], { cwd: ROOT })
  assert.equal(odd.code, 2)
  assert.match(odd.stderr, /^--only takes throughput, /)
  const unknown = await outputOf(process.execPath, ['scripts/run.mjs', 'bench/main.ts', 'rest', '--sekonds', '1'], { cwd: ROOT })
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /^Unknown option '--sekonds'/)
  for (const { stderr } of [odd, unknown]) assert.doesNotMatch(stderr, /^\s+at /m)
})
