// The test runner itself: what counts as passed; everything else fails.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { FileResult } from '../testing/run-file.ts'
import { outputOf } from './program.ts'

const CASES: Readonly<Record<string, string>> = {
  good: "test('one', () => {}); describe('suite', () => { test('two', () => {}) })",
  wrong: "test('fine', () => {}); test('wrong', () => assert.deepEqual({ a: 1 }, { a: 2 }))",
  nested: "test('parent', async t => { await t.test('child', () => { throw new Error('outer', { cause: new Error('inner') }) }) })",
  skipped: "test('fine', () => {}); test('later', { skip: true }, () => {})",
  todo: "test('fine', () => {}); test('later', { todo: true }, () => { throw new Error('not yet') })",
  empty: '',
  broken: "throw new Error('cannot be loaded')",
  exits: "test('fine', () => {}); test('exits', () => { process.exit(0) }); test('never', () => {})",
  late: "test('fine', () => { setTimeout(() => { throw new Error('too late') }, 30) })",
  hook: "after(() => { throw new Error('in the hook') }); test('fine', () => {})",
  works:
    "import { spawnSync } from 'node:child_process'; const spin = 'const { user } = process.cpuUsage(); while (process.cpuUsage().user - user < 200_000);'; test('computes', () => { eval(spin); spawnSync(process.execPath, ['-e', spin]) })",
  hangs: "test('fine', () => { setInterval(() => {}, 1000) })"
}
const LIMIT_MS = { hangs: 4_000, others: 60_000 }

let folder: string
let results: Readonly<Record<string, FileResult>>

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-runner-'))
  for (const [name, body] of Object.entries(CASES)) {
    const head = "import assert from 'node:assert/strict'\nimport { after, describe, test } from 'node:test'\n"
    writeFileSync(join(folder, `${name}.test.ts`), name === 'empty' ? '' : `${head}${body}\n`)
  }
  // In a separate program: node:test does not start tests within a test, and passes its own arguments down to them.
  const module = new URL('../testing/run-file.ts', import.meta.url).href
  const script = `import { runFile } from '${module}'
    const options = { root: ${JSON.stringify(folder)}, signal: new AbortController().signal }
    const names = ${JSON.stringify(Object.keys(CASES))}
    const entries = await Promise.all(names.map(async name => [name, await runFile(name + '.test.ts', { ...options, limitMs: name === 'hangs' ? ${LIMIT_MS.hangs} : ${LIMIT_MS.others} })]))
    console.log(JSON.stringify(Object.fromEntries(entries)))`
  writeFileSync(join(folder, 'program.mjs'), script)
  const { stdout } = await outputOf(process.execPath, [join(folder, 'program.mjs')])
  results = JSON.parse(stdout)
})
after(() => rmSync(folder, { recursive: true }))

function expect(name: string, passed: number, failures: readonly RegExp[]): FileResult {
  const result = results[name]
  assert.ok(result !== undefined, `no result for ${name}`)
  assert.equal(result.passed, passed, JSON.stringify(result))
  assert.equal(result.failures.length, failures.length, JSON.stringify(result))
  for (const [index, pattern] of failures.entries())
    assert.match(`${result.failures[index]?.name}: ${result.failures[index]?.details}`, pattern)
  return result
}

test('tests are counted, suites are not', () => void expect('good', 2, []))
test('a failed assertion shows the difference', () => void expect('wrong', 1, [/^wrong: [\s\S]*\+ {3}a: 1\n-? *-? {3}a: 2/]))
test('a failed subtest is reported once, with the cause of its cause', () => void expect('nested', 0, [/^child: [\s\S]*outer[\s\S]*inner/]))
test('skipped and todo tests count as failed', () => {
  expect('skipped', 1, [/^later: .*skipped/])
  expect('todo', 1, [/^later: .*todo/])
})
test('a file without tests fails', () => void expect('empty', 0, [/ended before its tests did, or there are none/]))
test('a file that cannot be loaded fails with the reason', () => {
  const { output } = expect('broken', 0, [/see its output/])
  assert.match(output, /cannot be loaded/)
})
test('a process that exits in the middle fails', () => {
  assert.ok((results.exits?.failures.length ?? 0) > 0)
  assert.match(String(results.exits?.failures[0]?.details), /ended before its tests did/)
})
test('an error after the end, or in a hook, is a failure', () => {
  expect('late', 1, [/see its output/])
  expect('hook', 1, [/in the hook/])
})
test('the processor time of a file includes that of what it started; a stopped file reports none', () => {
  const { processorMs } = expect('works', 1, [])
  const least = process.platform === 'linux' ? 400 : 200
  assert.ok((processorMs ?? 0) >= least - 20, `${processorMs} ms`)
  assert.equal(results.hangs?.processorMs, null)
})
test('a file that does not end is stopped', () => {
  // Whether its test ended before depends on the machine.
  void expect('hangs', results.hangs?.passed ?? 0, [/stopped after 4 s/])
})
