// The package as programs get it: its types and its code, by `import` and by `require`.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../../..')
const TSC = join(ROOT, 'node_modules/.bin/tsc')
/** Without the options that the runner of these tests gives to Node. */
const OTHERS = { PATH: process.env.PATH, HOME: process.env.HOME }

const PROGRAM = `
import { type Order, type Page, Trunkline, TrunklineError } from '@trunkline/client'
import { type Bar, BrokerStream, MarketStream, StreamError } from '@trunkline/client/streams'
import { verifyWebhook, WebhookError } from '@trunkline/client/webhooks'
import { ConnectError, createConnect } from '@trunkline/client/connect'
const trunkline = new Trunkline({ baseUrl: 'http://127.0.0.1:1', clientId: 'pk_1', clientSecret: 'sk_1', retries: 0 })
export const list = (page: Page<readonly Order[]>, bar: Bar, market: MarketStream) => [page.meta.status, bar.ts, market.ageMs]
export const all = [BrokerStream, createConnect, ConnectError, StreamError, WebhookError]
async function main() {
  const refused = await verifyWebhook({ headers: {}, body: '' }).catch((error: unknown) => error)
  const failed = await trunkline.users.list().toArray({ limit: 1 }).catch((error: unknown) => error)
  console.log(failed instanceof TrunklineError && failed.code, refused instanceof WebhookError && refused.code)
}
void main()
declare const console: { log(...values: unknown[]): void }
`

describe('the package', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-package-'))
    await mkdir(join(folder, 'node_modules/@trunkline'), { recursive: true })
    await symlink(join(ROOT, 'packages/client/dist'), join(folder, 'node_modules/@trunkline/client'))
    await writeFile(join(folder, 'program.ts'), PROGRAM)
  })
  after(() => rm(folder, { recursive: true }))

  for (const type of ['module', 'commonjs']) {
    for (const more of [['--strict'], ['--strict', 'false', '--skipLibCheck']]) {
      test(`has its types in a program of the type ${type}, with ${more.join(' ')}`, async () => {
        await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'program', private: true, type }))
        const options = [
          '--ignoreConfig',
          '--target',
          'es2022',
          '--module',
          'node16',
          '--types',
          '',
          '--lib',
          'es2023,dom',
          '--outDir',
          'out'
        ]
        await run(TSC, [...options, ...more, 'program.ts'], { cwd: folder }).catch(({ stdout }) => assert.fail(stdout))
        const { stdout } = await run(process.execPath, ['out/program.js'], { cwd: folder, env: OTHERS })
        assert.equal(stdout, 'connection_failed setting_invalid\n')
      })
    }
  }
})
