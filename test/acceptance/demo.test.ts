// `npm run demo`: the whole scenario runs to its end at every broker, whatever each can do.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { INHERITED } from '@trunkline/testkit/short-lived'
import { until } from '@trunkline/testkit/until'
import { type RunningService, startService } from './harness.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const run = promisify(execFile)

describe('the demo', () => {
  let service: RunningService
  before(async () => {
    service = await startService('embedded', { TRUNKLINE_BROKERS: 'SANDBOX,TRADIER,TRADESTATION,ALPACA' })
  })
  after(() => service[Symbol.asyncDispose]())

  const runDemo = (broker: string, dataDir = service.dataDir) =>
    run(process.execPath, [join(ROOT, 'packages/server/src/demo/main.ts'), '--data-dir', dataDir, '--broker', broker], {
      env: INHERITED,
      timeout: 120_000
    })

  for (const broker of ['SANDBOX', 'ALPACA', 'TRADIER', 'tradestation']) {
    test(`at ${broker}`, async () => {
      const { stdout } = await runDemo(broker)
      for (const expected of [
        /^1\. A user is created/m,
        /^2\. The user connects .+ \(sandbox\) in the portal as alex: “Your account is connected”$/m,
        /market buy +BUY 10 AAPL +filled/,
        /a partial fill +BUY 400 THIN +(cancelled|partially_filled) +\d/,
        /… modified +BUY 20 AAPL +working/,
        /… cancelled +BUY 20 AAPL +cancelled/,
        /far more than the account can pay +BUY 1000000 AAPL +rejected/,
        /market sell +SELL 4 AAPL +filled/,
        /cl_order_id is refused: 409/,
        /^4\. Balances\n.*\n.*\n +USD +\d/m,
        /^ +AAPL +\d/m,
        /^6\. Transactions(, newest first\n.*\n.*\n +\d{4}-\d\d-\d\d|: .+ has none)/m,
        /^7\. Market data of AAPL/m,
        /^ +bars +\{"o":"\d/m,
        /^ +quotes +\{"bp":"\d/m,
        /Everything above used the public API/
      ])
        assert.match(stdout, expected, stdout)
    })
  }

  test('into a pipe the service prints no secret, and where they lie instead', async () => {
    await until(() => service.output().includes('npm run demo'), 'the first page is printed')
    const { client_id: clientId, client_secret: clientSecret, sandbox_logins: logins, sandbox_control_url: control } = service.demo
    for (const secret of [clientId, clientSecret, control, '?code=', ...logins.map(({ password }) => password)])
      assert.ok(!service.output().includes(secret), secret)
    assert.doesNotMatch(service.output(), /\/connect\/[\w-]{43}/)
    assert.ok(service.output().includes(`credentials     in ${join(service.dataDir, 'demo-platform.json')}`))
  })

  test('a broker that is not offered is named with those that are', async () => {
    const { stdout } = await runDemo('NOBROKER').catch(cause => cause)
    assert.match(stdout, /NOBROKER is not offered by this service; it offers SANDBOX, TRADIER, TRADESTATION, ALPACA/)
  })
})

test('what cannot be understood is answered with what can be asked', async () => {
  const args = [join(ROOT, 'packages/server/src/demo/main.ts'), '--brokr', 'ALPACA']
  const failed = await run(process.execPath, args, { env: INHERITED }).catch(cause => cause)
  assert.equal(failed.code, 2)
  assert.match(failed.stdout, /^Unknown option '--brokr'.*\nusage: npm run demo -- \[--broker ALPACA\]/)
  assert.equal(failed.stderr, '')
})

test('without a running service it says so, and what to start', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-no-service-'))
  const args = [join(ROOT, 'packages/server/src/demo/main.ts'), '--data-dir', dataDir]
  const shown = async () => {
    const failed = await run(process.execPath, args, { env: INHERITED }).catch(cause => cause)
    assert.deepEqual([failed.code, failed.stderr], [1, ''])
    return failed.stdout
  }
  try {
    assert.match(await shown(), /demo-platform\.json cannot be read; is the service running\? Start it in another terminal: npm start/)
    // Left by a service that has stopped.
    const left = {
      base_url: 'http://127.0.0.1:9',
      client_id: 'pk_x',
      client_secret: 'sk_x',
      sandbox_logins: [{ username: 'a', password: 'b' }]
    }
    await writeFile(join(dataDir, 'demo-platform.json'), JSON.stringify(left))
    assert.match(await shown(), /The demo stopped: No service answers at http:\/\/127\.0\.0\.1:9\. Start it in another terminal: npm start/)
  } finally {
    await rm(dataDir, { recursive: true })
  }
})

test('where real orders would be placed nothing is', async () => {
  // Of paper accounts: with real money there would be no demo platform either.
  const env = { TRUNKLINE_BROKERS: 'SANDBOX,ALPACA', TRUNKLINE_ALPACA_API_KEYS: '1', TRUNKLINE_ALPACA_ENV: 'paper' }
  await using service = await startService('embedded', env)
  const args = [join(ROOT, 'packages/server/src/demo/main.ts'), '--data-dir', service.dataDir, '--broker', 'ALPACA']
  const failed = await run(process.execPath, args, { env: INHERITED }).catch(cause => cause)
  assert.equal(failed.code, 1)
  assert.match(failed.stdout, /ALPACA is connected to its paper accounts, and the demo sends market orders, so it runs only in the sandbox/)
  assert.ok(!failed.stdout.includes('1. A user is created'))
})
