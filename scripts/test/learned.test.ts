// What is kept of where modules lie is what Node finds by itself, and programs that use it run as ever.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { readResolutions } from '@trunkline/testkit/resolutions/table'
import { ensureLearned } from '../testing/learned.ts'
import { outputOf } from './program.ts'

const HOOK = import.meta.resolve('@trunkline/testkit/resolutions/hook')
const TABLE = import.meta.resolve('@trunkline/testkit/resolutions/table')
// Without the hook: this process has it.
const FIND_ALL = `
  import { createRequire } from 'node:module'
  import { pathToFileURL } from 'node:url'
  import { readResolutions } from '${TABLE}'
  const wrong = []
  for (const [asker, found] of readResolutions()) {
    const [how, path] = asker.split(' ')
    const parent = ROOT_URL + path + (path.endsWith('/') || path === '' ? 'any.ts' : '')
    const require = createRequire(parent)
    for (const [specifier, [url]] of found) {
      const finds = how === 'require' ? pathToFileURL(require.resolve(specifier)).href : import.meta.resolve(specifier, parent)
      if (finds !== ROOT_URL + url) wrong.push([asker, specifier, url, finds])
    }
  }
  console.log(JSON.stringify(wrong))`

before(() => ensureLearned(assert.fail))

const run = async (program: string, ...flags: readonly string[]) =>
  await outputOf(process.execPath, [...flags, '--input-type=module', '--eval', program])

test('every module lies where it is kept', async () => {
  assert.ok((readResolutions()?.size ?? 0) > 500, 'files that import')
  const { stdout, stderr } = await run(FIND_ALL, '--experimental-import-meta-resolve')
  assert.deepEqual(JSON.parse(stdout), [], stderr)
})

test('a file of ours that is missing is named', async () => {
  const { code, stderr } = await run("import '@trunkline/core/domain/nothing'", `--import=${HOOK}`)
  assert.equal(code, 1)
  assert.match(stderr, /packages\/core\/src\/domain\/nothing\.ts/)
})
