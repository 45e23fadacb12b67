// The package as the service serves it: installed by npm, and the program of its README checked by its declarations and run.
import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '@trunkline/testkit/until'
import { transform } from 'esbuild'
import { type RunningService, startService } from '../../../test/acceptance/harness.ts'
import { type Block, blocksIn, holdAgainst } from '../../../test/acceptance/snippets.ts'
import { Walker } from '../../../test/acceptance/walker.ts'

const README = resolve(import.meta.dirname, '../README.md')
const TSC = resolve(import.meta.dirname, '../../../node_modules/.bin/tsc')
/** Strict, and without what only this repository has. */
const CONFIG = {
  compilerOptions: {
    ...{ target: 'ES2022', lib: ['ES2023', 'DOM'], module: 'NodeNext', strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    ...{ types: [], skipLibCheck: false }
  },
  files: ['program.ts', 'reference.ts', 'globals.d.ts']
}

describe('the package that the service serves', () => {
  let service: RunningService
  let folder = ''
  let blocks: readonly Block[] = []
  before(async () => {
    service = await startService('embedded')
    folder = await mkdtemp(join(tmpdir(), 'trunkline-client-'))
    blocks = blocksIn(await readFile(README, 'utf8'))
    const program = blocks.filter(({ marks }) => marks[0] === 'ts' && marks.includes('run')).map(({ text }) => text)
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
    await writeFile(join(folder, 'globals.d.ts'), 'declare const process: { readonly env: Readonly<Record<string, string | undefined>> }\n')
    await writeFile(join(folder, 'program.ts'), program.join('\n'))
    await writeFile(join(folder, 'reference.ts'), compilable(await (await fetch(`${service.url}/docs`)).text()))
    await writeFile(join(folder, 'program.js'), (await transform(program.join('\n'), { loader: 'ts', format: 'esm' })).code)
    const npm = ['install', '--no-audit', '--no-fund', '--cache', join(folder, 'cache'), `${service.url}/client.tgz`]
    await promisify(execFile)('npm', npm, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  test('has declarations that a strict program compiles with, and so does each example of the reference', () => {
    const { status, stdout } = spawnSync(TSC, ['-p', folder], { encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })

  for (const [path, exported] of [
    ['/client/trunkline.js', 'Trunkline'],
    ['/client/streams.js', 'LiveCopy']
  ] as const) {
    test(`is served as a module, too: ${path}`, async () => {
      const text = await (await fetch(service.url + path)).text()
      assert.equal(typeof (await import(`data:text/javascript,${encodeURIComponent(text)}`))[exported], 'function')
    })
  }

  test('runs the program of the README', async () => {
    const { client_id, client_secret, sandbox_logins } = service.demo
    const child = spawn(process.execPath, [join(folder, 'program.js')], {
      env: { TRUNKLINE_URL: service.url, TRUNKLINE_CLIENT_ID: client_id, TRUNKLINE_CLIENT_SECRET: client_secret },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const ended = once(child, 'exit')
    try {
      await until(() => printed.includes('\n') || child.exitCode !== null, 'the link is printed')
      const [, link = ''] = /^Log in at (\S+)/.exec(printed) ?? []
      const walker = new Walker(`${service.url}/nowhere`)
      const asked = await walker.submit(await walker.open(link), { decision: 'approve', broker: 'SANDBOX' })
      const consent = await walker.submit(asked, { ...sandbox_logins[0], decision: 'approve' })
      await walker.submit(consent, { decision: 'approve' })
      assert.deepEqual(await ended, [0, null])
    } finally {
      child.kill()
    }
    const shown = blocks.find(({ marks }) => marks.includes('output'))
    holdAgainst(shown?.text ?? '', printed, 'packages/client/README.md')
  })
})

/** The examples of the reference as one program: the first is what they begin with. */
function compilable(page: string): string {
  const [start = '', ...examples] = [...page.matchAll(/data-language="TypeScript" tabindex="0"><code>([\s\S]*?)<\/code>/g)].map(
    ([, text = '']) =>
      text.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  )
  assert.ok(examples.length >= 29, `${examples.length} examples`)
  const names = [
    'baseUrl',
    'clientId',
    'clientSecret',
    'userSecret',
    'connection_id',
    'account_id',
    'order_id',
    'claim_code',
    'endpoint_id',
    'delivery_id'
  ]
  return [
    ...names.map(name => `declare const ${name}: string`),
    start,
    ...examples.map((example, index) => `export async function example${index}() {\n${example}\n}`)
  ].join('\n')
}
