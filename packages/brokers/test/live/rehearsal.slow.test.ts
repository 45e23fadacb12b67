// The run for practice accounts, held against the sandbox emulating each broker: it does what it says, and leaves nothing behind.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Broker, BrokerDefinition, Credentials } from '@trunkline/core/ports/broker'
import { startSandbox } from '@trunkline/sandbox/compose'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { ADAPTERS, openBrokers } from '../../src/registry.ts'
import { walk } from '../sandbox/browser.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { credentialsFor } from './credentials.ts'
import { rehearse } from './rehearsal.ts'

const REAL = ADAPTERS.filter(({ settings }) => settings.length > 0)

describe('the run for practice accounts', () => {
  let resources: AsyncDisposableStack
  let sandbox: Awaited<ReturnType<typeof startSandbox>>
  let callbackPort = 0
  before(async () => {
    resources = new AsyncDisposableStack()
    callbackPort = await freePort()
    const redirectUris = REAL.map(({ capabilities: { id } }) => callbackOf(id))
    sandbox = resources.use(await startSandbox({ redirectUris, clientSecret: 'a-secret-of-the-sandbox' }))
  })
  after(() => resources.disposeAsync())

  const callbackOf = (id: string) => `http://127.0.0.1:${callbackPort}/connect/callback/${id.toLowerCase()}`

  for (const { capabilities, offer } of REAL.map(adapter => ({ capabilities: adapter.capabilities, offer: adapter.offer(() => '') }))) {
    describe(capabilities.id, () => {
      let definition: BrokerDefinition
      let credentials: Credentials
      before(async () => {
        const deps = { clock: systemClock, fraction: () => 0.5, log: new MemoryLog(), meter: new MemoryMeter() }
        const opened = resources.use(
          openBrokers([offer], deps, {
            url: sandbox.url,
            publicUrl: sandbox.url,
            clientId: sandbox.clientId,
            clientSecret: sandbox.clientSecret,
            hours: 'always'
          })
        )
        definition = opened.get(capabilities.id) ?? assert.fail('it is not offered')
        credentials = await loggedIn()
      })

      /** As at a terminal: the address is printed, a user opens it in a browser, and the browser comes back. */
      async function loggedIn(): Promise<Credentials> {
        const output: string[] = []
        const requested = credentialsFor(definition, {
          env: {},
          callbackUrl: callbackOf(capabilities.id),
          print: text => output.push(text),
          signal: soon()
        })
        await until(() => output.length > 0, 'the address is printed')
        const [, address = ''] = /(http:\S+)/.exec(output.join('\n')) ?? []
        const [customer] = sandbox.logins
        assert.ok(customer !== undefined)
        const back = await walk(address, callbackOf(capabilities.id), customer, 'approve')
        const stray = await fetch(back.replace(/state=[^&]*/, 'state=another'))
        assert.equal(stray.status, 404, 'a browser that was not sent there is not taken')
        assert.equal((await fetch(back)).status, 200)
        return await requested
      }

      function run(broker: Broker, output: string[] = []): Promise<readonly string[]> {
        return rehearse({ definition, broker, symbol: 'AAPL', clock: systemClock, print: text => output.push(text), accountNumber: null })
      }

      async function openOrders(): Promise<number> {
        await using broker = definition.open(new MemoryHolder(credentials))
        const { items: accounts } = await broker.accounts(soon())
        const since = systemClock.now()
        const lists = await Promise.all(accounts.map(({ brokerAccountId }) => broker.orders(brokerAccountId, since, soon())))
        return lists
          .flatMap(({ items }) => items)
          .filter(({ status }) => !['filled', 'cancelled', 'rejected', 'expired', 'replaced'].includes(status)).length
      }

      test('reads, orders, changes, cancels, and leaves nothing', async () => {
        await using broker = definition.open(new MemoryHolder(credentials))
        const output: string[] = []
        assert.deepEqual(await run(broker, output), [], output.join('\n'))
        const all = output.join('\n')
        for (const pattern of [
          /^account …/m,
          /^balance USD/m,
          /^orders one AAPL at \d+(\.\d\d?)?$/m,
          /^changed to \d+(\.\d\d?)?; its id is (new|kept)$/m,
          /is cancelled$/m,
          /nothing of this run is open/m
        ])
          assert.match(all, pattern)
        assert.equal(await openOrders(), 0)
      })

      test('an order whose answer is lost, and a cancel that is refused, are reported and cleaned up', async () => {
        await using real = definition.open(new MemoryHolder(credentials))
        const submit: Broker['submit'] = async (...sent) => {
          await real.submit(...sent)
          return { kind: 'unknown', cause: new Error('the answer was lost') }
        }
        const lost = await run(withMethods(real, { submit }))
        assert.match(lost.join('\n'), /^submit was unknown/)
        assert.equal(await openOrders(), 0, 'what no answer reported was found and cancelled')
        let refusals = 1
        const cancel: Broker['cancel'] = async (...sent) =>
          refusals-- > 0 ? { kind: 'refused', message: 'not today', rejectCode: null, brokerStatus: null } : real.cancel(...sent)
        const faults = await run(withMethods(real, { cancel }))
        assert.match(faults.join('\n'), /cancel was refused: not today/)
        assert.equal(await openOrders(), 0)
      })
    })
  }

  test('it refuses to guess, to go live unasked, and to run without a broker', () => {
    for (const [args, env, pattern] of [
      [[], {}, /usage: npm run test:live/],
      [['SANDBOX'], {}, /BROKER is one of ALPACA, /],
      [['TRADIER'], {}, /No setting says how to reach TRADIER/],
      [['ALPACA'], {}, /Set TRUNKLINE_TEST_ALPACA_KEY_ID and TRUNKLINE_TEST_ALPACA_SECRET_KEY/],
      [['TRADIER'], { TRUNKLINE_TEST_TRADIER_ACCESS_TOKEN: 'x', TRUNKLINE_TRADIER_ENV: 'live' }, /would order with real money/],
      [['ALPACA'], { TRUNKLINE_ALPACA_ENV: 'live' }, /would order with real money/],
      [['ALPACA'], { TRUNKLINE_ALPACA_ENV: 'real' }, /TRUNKLINE_ALPACA_ENV must be one of live, paper/],
      [['tradestation'], { TRUNKLINE_TRADESTATION_CLIENT_ID: 'x' }, /must be set, because TRUNKLINE_TRADESTATION_CLIENT_ID is/]
    ] as const) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
        env: { PATH: process.env.PATH, ...env },
        encoding: 'utf8'
      })
      assert.ok(status === 1 || status === 2, `${args} ${status}`)
      assert.match(stdout + stderr, pattern)
    }
  })
})

/** The broker, with some of its methods replaced. */
function withMethods(broker: Broker, methods: Partial<Broker>): Broker {
  const replaced: ReadonlyMap<string | symbol, unknown> = new Map(Object.entries(methods))
  return new Proxy(broker, {
    get(real, name) {
      if (replaced.has(name)) return replaced.get(name)
      const value = Reflect.get(real, name, real)
      return typeof value === 'function' ? value.bind(real) : value
    }
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
