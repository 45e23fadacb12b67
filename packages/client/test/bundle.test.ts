// The client as others get it: small, without what they do not use, on every runtime that is here.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { minified } from '../../../scripts/client/bundle.ts'

const run = promisify(execFile)
const REST = { index: '{ Trunkline, TrunklineError }' }
/** Each with what it may have, and what is measured besides. */
const SIZES = [
  ['REST with all operations', REST.index, 'index', 15_310],
  ['REST with the broker stream', '{ BrokerStream, StreamError }', 'streams/index', 24_770, REST],
  ['REST with market data', '{ MarketStream, StreamError }', 'streams/index', 25_130, REST],
  ['REST with a copy of a user', '{ BrokerStream, LiveCopy, eventsOf, recordsOf, StreamError }', 'streams/index', 30_000, REST],
  ['the broker stream', '{ BrokerStream, StreamError }', 'streams/index', 9_650],
  ['market data', '{ MarketStream, StreamError }', 'streams/index', 10_000],
  ['connect.js', '{ createConnect, ConnectError }', 'connect/index', 3_640],
  ['connect.js with React', '{ useTrunklineConnect }', 'react/index', 4_450],
  ['webhooks', '{ verifyWebhook, WebhookError }', 'webhooks/index', 4_680]
] as const
/** Without the options that the runner of these tests gives to Node. */
const OTHERS = { PATH: process.env.PATH, HOME: process.env.HOME }
/** Programs that may be installed besides our own Node, and how each runs a module. */
const RUNTIMES: readonly (readonly [program: string, args: readonly string[]])[] = [
  [process.execPath, []],
  ['/usr/bin/node', []],
  ['bun', ['run']],
  ['deno', ['run', '--allow-net']]
]

for (const [what, imports, module, bytesMax, more] of SIZES) {
  test(`${what} is small`, async t => {
    const bytes = Buffer.byteLength(await minified(imports, module, more))
    t.diagnostic(`${bytes} bytes`)
    assert.ok(bytes <= bytesMax, `${bytes} bytes, of at most ${bytesMax}`)
  })
}

test('what is not imported is not bundled', async () => {
  const all = (await minified('{ Trunkline, TrunklineError }')).length
  assert.ok((await minified('{ TrunklineError }')).length < 500)
  const quotes = await minified('{ transportOf, marketData }')
  assert.ok(quotes.length < all * 0.65, `${quotes.length} of ${all}`)
  assert.ok(!quotes.includes('rotate-secret') && !quotes.includes('America/New_York'))
})

describe('the bundle', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trunkline-client-'))
    await writeFile(join(folder, 'trunkline.mjs'), await minified('{ Trunkline, TrunklineError }'))
    await writeFile(join(folder, 'webhooks.mjs'), await minified('{ verifyWebhook }', 'webhooks/index'))
    await writeFile(join(folder, 'program.mjs'), PROGRAM)
  })
  after(() => rm(folder, { recursive: true }))

  test('runs on Node of this project, and on Node 20, Bun and Deno where they are installed', async t => {
    const server = createServer((incoming, outgoing) => {
      incoming.resume()
      if (incoming.url === '/balances') return void outgoing.destroy()
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end('[{"account_id":"1"}]')
    }).listen(0, '127.0.0.1')
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server, 'listening')
    const address = server.address()
    const url = typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : ''
    for (const [program, args] of RUNTIMES) {
      const version = await run(program, ['--version']).then(
        ({ stdout }) => stdout.trim(),
        () => null
      )
      t.diagnostic(`${program}: ${version ?? 'not here'}`)
      if (version === null) continue
      const { stdout } = await run(program, [...args, join(folder, 'program.mjs'), url], { env: OTHERS })
      assert.equal(stdout, '1 connection_failed true webhook_malformed\n', version)
    }
  })
})

const PROGRAM = `
import { Trunkline, TrunklineError } from './trunkline.mjs'
import { verifyWebhook } from './webhooks.mjs'
const [baseUrl] = globalThis.Deno ? Deno.args : process.argv.slice(2)
const trunkline = new Trunkline({ baseUrl, clientId: 'pk_1', clientSecret: 'sk_1', retries: 1 })
const ada = trunkline.user({ userId: 'ada', userSecret: 'us_1' })
const accounts = await ada.accounts.list()
const error = await ada.balances.list().catch(cause => cause)
// Signed by Ed25519, as Standard Webhooks publishes it; only the body is not ours.
const signature = 'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=='
const verified = await verifyWebhook({
  publicKeys: ['whpk_ZlN4eg7dSSqi0moX9hQUk3orrOouK3QVQSlJa248c/g='],
  headers: { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': '1614265330', 'webhook-signature': signature },
  body: '{"test": 2432232314}',
  now: () => 1614265330000
}).catch(cause => cause)
console.log(accounts[0].account_id, error.code, error instanceof TrunklineError, verified.code)
`
