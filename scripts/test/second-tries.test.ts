// A run's second tries: which files pass by one, which do not, and the last lines of the output.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { cleanEnvironment, outputOf, type ProgramOutput } from './program.ts'

const modules = new URL('../testing/', import.meta.url).href
let folder: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-second-'))
})
after(() => rmSync(folder, { recursive: true }))

const HEAD = `import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
const ranBefore = name => {
  const file = process.env.STATE + '/' + name
  const has = existsSync(file)
  writeFileSync(file, '')
  return has
}
`
const GOOD = "test('good', () => {})\n"
const UNSTEADY = `${GOOD}test('first time', () => { const again = ranBefore('unsteady'); console.log('try', again ? 2 : 1); assert.ok(again, 'not yet') })\n`
const WRONG = `${GOOD}test('wrong', () => { console.log('tried'); assert.fail('always') })\n`
const NEVER_AGAIN = "test('once', () => { assert.ok(!ranBefore('once'), 'ran a second time'); assert.fail('the first time') })\n"

interface Run extends ProgramOutput {
  readonly root: string
  readonly outputs: (name: string) => string
}

/** A whole run over these files, in a separate program: node:test does not start tests within a test. */
async function run(name: string, files: Readonly<Record<string, string>>, hasSecondTries = true): Promise<Run> {
  const root = join(folder, name)
  mkdirSync(join(root, 'unit'), { recursive: true })
  mkdirSync(join(root, 'state'))
  const paths = Object.keys(files).map(file => `unit/${file}.test.ts`)
  for (const [file, body] of Object.entries(files)) writeFileSync(join(root, 'unit', `${file}.test.ts`), HEAD + body)
  writeFileSync(
    join(root, 'program.mjs'),
    `import { runSuite } from '${modules}suite.ts'
    import { Tally } from '${modules}tally.ts'
    const files = ${JSON.stringify(paths)}.map(path => ({ path, group: 'unit', needs: new Set(), waits: false, searches: false, shares: false, quick: false }))
    const tally = new Tally()
    const suite = { root: ${JSON.stringify(root)}, signal: new AbortController().signal, print: console.log, prepare: async files => files }
    for (const verdict of await runSuite(files, { ...suite, workers: 2, hasSecondTries: ${hasSecondTries} })) tally.judge(verdict)
    console.log(tally.summary())
    process.exitCode = tally.succeeded ? 0 : 1`
  )
  const output = await outputOf(process.execPath, [join(root, 'program.mjs')], { env: cleanEnvironment({ STATE: join(root, 'state') }) })
  return { ...output, root, outputs: file => readFileSync(join(root, 'test-results', 'unsteady', file), 'utf8') }
}

const lastLine = ({ stdout }: Run) => stdout.trimEnd().split('\n').at(-1)

test('a file that fails beside others and passes alone is reported, and the run passes; each test counts once', async () => {
  const result = await run('saved', { steady: GOOD, unsteady: UNSTEADY })
  assert.equal(result.code, 0, result.stdout)
  assert.equal(lastLine(result), '3 passed, 0 failed')
  assert.match(result.stdout, /\nUnsteady,.*\n {2}unit\/unsteady\.test\.ts:\d+ › first time\n\n3 passed, 0 failed\n$/)
  assert.match(result.stdout, /not yet[\s\S]*try 1[\s\S]*second tries[\s\S]*try 2/)
  assert.match(result.outputs('unit__unsteady.test.ts.first.txt'), /not yet[\s\S]*try 1/)
  assert.match(result.outputs('unit__unsteady.test.ts.second.txt'), /2 passed, 0 failed[\s\S]*try 2/)
})

test('a file that fails twice fails the run, and is reported once in the last lines', async () => {
  const result = await run('failed', { steady: GOOD, unsteady: UNSTEADY, wrong: WRONG })
  assert.equal(result.code, 1, result.stdout)
  assert.match(
    result.stdout,
    /\nFailed:\n {2}unit\/wrong\.test\.ts:\d+ › wrong\n\nUnsteady,.*\n {2}unit\/unsteady\.test\.ts:\d+ › first time\n\n4 passed, 1 failed\n$/
  )
})

test('if four files fail, none is tried again, and the reason is printed', async () => {
  const once = { one: NEVER_AGAIN, two: WRONG, three: WRONG, four: WRONG }
  const result = await run('four', once)
  assert.equal(result.code, 1)
  assert.match(result.stdout, /4 files failed\. With more than 3, none is tried a second time\./)
  assert.doesNotMatch(result.stdout, /ran a second time|Unsteady/)
  assert.equal(lastLine(result), '3 passed, 4 failed')
  assert.ok(!existsSync(join(result.root, 'test-results')))
})

test('without second tries, a failure fails the run', async () => {
  const result = await run('quick', { steady: GOOD, unsteady: UNSTEADY }, false)
  assert.equal(result.code, 1)
  assert.equal(lastLine(result), '2 passed, 1 failed')
})
