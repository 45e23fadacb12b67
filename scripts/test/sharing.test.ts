// Files that share a process: which may, and that each failure is still found in its file.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { SourceFiles } from '../testing/imports.ts'
import type { FileResult } from '../testing/run-file.ts'
import { mayShare } from '../testing/sharing.ts'
import { outputOf } from './program.ts'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-sharing-'))
})
after(() => rmSync(folder, { recursive: true }))

function write(name: string, body: string): string {
  const head = "import assert from 'node:assert/strict'\nimport { describe, test } from 'node:test'\n"
  writeFileSync(join(folder, `${name}.test.ts`), name === 'empty' ? '' : head + body)
  return `${name}.test.ts`
}

/** The results of files in one process, with a limit, in a separate program: node:test does not start tests within a test. */
async function together(files: Readonly<Record<string, string>>, limitMs = 60_000): Promise<readonly FileResult[]> {
  const paths = Object.entries(files).map(([name, body]) => write(name, body))
  const program = join(folder, 'program.mjs')
  const module = new URL('../testing/run-shared.ts', import.meta.url).href
  writeFileSync(
    program,
    `import { runShared } from '${module}'
    const options = { root: ${JSON.stringify(folder)}, limitMs: ${limitMs}, signal: new AbortController().signal }
    console.log(JSON.stringify(await runShared(${JSON.stringify(paths)}, options)))`
  )
  const { stdout, stderr } = await outputOf(process.execPath, [program])
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

const brief = (results: readonly FileResult[]) =>
  results.map(({ path, passed, failures, isShared = false }) => [path.split('.')[0], passed, failures.map(({ name }) => name), isShared])

test('each file has its own result, also one that fails or has no tests', async () => {
  const results = await together({
    good: "test('one', () => {}); describe('suite', () => { test('two', () => {}) })",
    wrong: "test('fine', () => {}); test('wrong', () => assert.equal(1, 2)); test('later', { skip: true }, () => {})",
    last: "test('three', () => {})"
  })
  assert.deepEqual(brief(results), [
    ['good', 2, [], true],
    ['wrong', 1, ['wrong', 'later'], true],
    ['last', 1, [], true]
  ])
  assert.match(String(results[1]?.failures[0]?.details), /1 !== 2/)
})

test('after a crash, a late error or a file without tests, all files run by themselves, and the guilty one is named', async () => {
  for (const [name, body] of Object.entries({
    exits: "test('exits', () => process.exit(3))",
    late: "test('fine', () => { setTimeout(() => { throw new Error('too late') }, 30) })",
    broken: "throw new Error('cannot be loaded')",
    empty: ''
  })) {
    const results = await together({ good: "test('one', () => {})", [name]: body, last: "test('two', () => {})" })
    assert.deepEqual(
      results.map(({ path, failures }) => [path.split('.')[0], failures.length > 0]),
      [
        ['good', false],
        [name, true],
        ['last', false]
      ],
      name
    )
  }
})

test('a file that leaves something open is stopped, and named', async () => {
  const results = await together({ good: "test('one', () => {})", hangs: "test('fine', () => { setInterval(() => {}, 1000) })" }, 4_000)
  assert.match(String(results.find(({ path }) => path.startsWith('hangs'))?.failures[0]?.details), /stopped after 4 s/)
})

test('a file that concerns the whole process does not share', () => {
  const may = (body: string) => mayShare(new SourceFiles(folder), write('judged', body))
  assert.ok(may("test('one', () => { assert.equal(process.env.HOME, 1) })"))
  for (const body of [
    "process.env.HOME = '/'",
    'delete process.env.HOME',
    "process.once('exit', () => {})",
    "import { spawn } from 'node:child_process'",
    "import { Worker } from 'node:worker_threads'",
    "import { beforeEach } from 'node:test'",
    "import { mock } from 'node:test'",
    'globalThis.now = 1',
    'test("one", () => assert.ok(performance.now() > 1))'
  ])
    assert.ok(!may(body), body)
  writeFileSync(join(folder, 'helper.ts'), "import { test } from 'node:test'\nexport const declare = () => test('x', () => {})\n")
  assert.ok(!may("import { declare } from './helper.ts'\ndeclare()"))
})
