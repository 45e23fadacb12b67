// What becomes of a change of the sandbox whose answer is lost, huge or unreadable, and where there is no sandbox.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import { SANDBOX_MARKET } from '../../src/operators/routes/sandbox.ts'
import { SandboxControl, SandboxRefusal } from '../../src/operators/sandbox/control.ts'
import { ownSandbox } from '../../src/operators/sandbox/own.ts'
import { SANDBOX } from '../../src/operators/sandbox/requests.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Alarms that ring when the test says so. */
class Alarms {
  readonly ringing: (() => void)[] = []

  alarm(_ms: number, ring: () => void): Disposable {
    this.ringing.push(ring)
    return { [Symbol.dispose]: () => undefined }
  }
}

async function controlOf(answer: Answer, isRunning = true) {
  let requests = 0
  const clock = new Alarms()
  const server = createServer((request, response) => {
    requests += 1
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const control = new SandboxControl({ controlUrl: `http://127.0.0.1:${address.port}`, isRunning: () => isRunning, clock })
  return {
    ...{ control, clock, requests: () => requests },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

const codeAnd =
  (text: RegExp, code = 'sandbox_unavailable') =>
  (error: unknown) => {
    assert.ok(error instanceof ServiceError)
    assert.equal(error.code, code)
    assert.match(error.message, text)
    return true
  }

test('a change whose answer is lost is unknown, and is sent once; a read without an answer changed nothing', async () => {
  await using cut = await controlOf(request => request.socket.destroy())
  await assert.rejects(cut.control.ask(SANDBOX.setMarket({ paused: true })), codeAnd(/unknown/))
  assert.equal(cut.requests(), 1)
  await assert.rejects(cut.control.ask(SANDBOX.clock()), codeAnd(/Nothing was changed/))
})

test('a reset answers what its own answer says: no read after it can fail and say that nothing was changed', async () => {
  const clock = { sandbox_time: '2026-11-27T15:00:00.000000Z', frozen: false, paused: false, market: 'synthetic' }
  const phases = { share: 'open', coin: 'open', option: 'open', future: 'open' }
  await using sandbox = await controlOf(({ method }, response) => {
    if (method === 'GET') response.destroy()
    else response.end(JSON.stringify({ clock: { ...clock, ...phases } }))
  })
  const actions: string[] = []
  const store = { audit: { append: async ({ action }: { readonly action: string }) => void actions.push(action) } }
  const own = { control: sandbox.control, url: '', brokers: [], callbackUrl: () => '' }
  const deps = Object.assign(Object.create(null), { sandbox: own, app: { clock: { now: () => clock.sandbox_time }, store } })
  const caller = { operator: 'ada', ip: '', requestId: '', scopes: ['sandbox'], session: null } as const
  const reset = SANDBOX_MARKET.find(({ operationId }) => operationId === 'resetSandbox')
  assert.ok(reset?.access === 'operator')
  const request = Object.assign(Object.create(null), { body: { confirm: 'reset' } })
  const answer = await reset.prepare({}, {})(caller, request, Object.create(null), deps)
  assert.match(JSON.stringify(answer), /"sandbox_time":"2026-11-27T15:00:00.000000Z"/)
  assert.deepEqual([sandbox.requests(), actions], [1, ['sandbox.reset']])
})

test('an answer that does not come within its time is a lost one', async () => {
  await using silent = await controlOf(() => {
    for (const ring of silent.clock.ringing) ring()
  })
  await assert.rejects(silent.control.ask(SANDBOX.reset()), codeAnd(/unknown/))
})

test('an answer that is huge, of another form or of a failure is not taken for one', async () => {
  const answers: readonly Answer[] = [
    (_request, response) => response.end(`{"items": ["${'x'.repeat(5 * 1024 * 1024)}"]}`),
    (_request, response) => response.end('{"items": [{"id": 7}]}'),
    (_request, response) => response.end('<html>'),
    (_request, response) => response.writeHead(500).end('{"error": {"code": "internal_error", "message": "no"}}'),
    (_request, response) => response.writeHead(302, { location: '/counters' }).end()
  ]
  for (const answer of answers) {
    await using one = await controlOf(answer)
    await assert.rejects(one.control.ask(SANDBOX.faults()), codeAnd(/Nothing was changed/))
  }
})

test('an answer of four mebibytes is read, and one byte more is a lost one', async () => {
  let bytes = 4 * 1024 * 1024
  await using long = await controlOf((_request, response) => response.end('{"items": []}'.padEnd(bytes)))
  assert.deepEqual(await long.control.ask(SANDBOX.faults()), { items: [] })
  bytes += 1
  await assert.rejects(long.control.ask(SANDBOX.faults()), codeAnd(/gave no answer/))
})

test('a redirect is not followed: what another address says is no answer of the sandbox', async () => {
  await using moved = await controlOf((request, response) => {
    if (request.url === '/elsewhere') response.end('{"items": []}')
    else response.writeHead(302, { location: '/elsewhere' }).end()
  })
  await assert.rejects(moved.control.ask(SANDBOX.faults()), codeAnd(/gave no answer/))
  assert.equal(moved.requests(), 1)
})

test('a refusal has the sandbox’s own code and reason, cut to a bound', async () => {
  const error = { code: 'unknown_fault', message: 'x'.repeat(10_000) }
  await using refusing = await controlOf((_request, response) => response.writeHead(404).end(JSON.stringify({ error })))
  await assert.rejects(refusing.control.ask(SANDBOX.clearFault('fault-1')), (refusal: unknown) => {
    assert.ok(refusal instanceof SandboxRefusal)
    assert.deepEqual([refusal.code, refusal.sandboxCode], ['sandbox_refused', 'unknown_fault'])
    return refusal.message.length < 400
  })
})

test('once the sandbox has ended, nothing is sent to its port', async () => {
  await using other = await controlOf((_request, response) => response.end('{}'), false)
  await assert.rejects(other.control.ask(SANDBOX.reset()), codeAnd(/nothing was changed/, 'sandbox_absent'))
  assert.equal(other.requests(), 0)
})

test('values are one part of a path', async () => {
  const paths: string[] = []
  await using one = await controlOf((request, response) => {
    paths.push(request.url ?? '')
    response.writeHead(404).end('{}')
  })
  for (const request of [
    SANDBOX.clearFault('../reset'),
    SANDBOX.endGrants('a/b?c#d', {}),
    SANDBOX.price('BTC/USD'),
    SANDBOX.orders('a&b=c')
  ])
    await assert.rejects(one.control.ask<typeof request.answer>(request))
  assert.deepEqual(paths, ['/faults/..%2Freset', '/logins/a%2Fb%3Fc%23d/revoke', '/market/BTC%2FUSD', '/orders?client_order_id=a%26b%3Dc'])
  for (const steps of ['.', '..'])
    for (const request of [SANDBOX.clearFault, SANDBOX.price, SANDBOX.cancelOrder, (name: string) => SANDBOX.endGrants(name, {})])
      assert.throws(() => request(steps), codeAnd(/no name/, 'sandbox_refused'))
})

test('without a sandbox of its own, the service says why and what to do', () => {
  assert.throws(() => ownSandbox({ sandbox: 'elsewhere' }), codeAnd(/TRUNKLINE_SANDBOX_URL.*Use the control API/, 'sandbox_absent'))
  assert.throws(() => ownSandbox({ sandbox: 'not_offered' }), codeAnd(/Offer SANDBOX/, 'sandbox_absent'))
})
