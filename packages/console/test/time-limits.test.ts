// How long the console waits for answers, on a clock of its own.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { isOutcomeUnknown, Refusal, send } from '../src/api.ts'

const MINUTE_MS = 60_000

test('a read is given up before a minute; a change, for which the service may take a minute, after it, and is unknown then', async t => {
  const asked = Promise.withResolvers<void>()
  let requests = 0
  const service = createServer(() => {
    requests += 1
    if (requests === 2) asked.resolve()
  })
  await using end = new AsyncDisposableStack()
  end.use(service)
  end.defer(() => service.closeAllConnections())
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
  const address = service.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  const limits: { readonly ms: number; readonly over: AbortController }[] = []
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    const over = new AbortController()
    limits.push({ ms, over })
    return over.signal
  })
  const pass = (ms: number) => {
    for (const limit of limits) if (limit.ms <= ms) limit.over.abort(new DOMException('the time is over', 'TimeoutError'))
  }
  const path = `http://127.0.0.1:${address.port}/admin/v1/x`
  let isChangeOver = false
  const failure = (method: 'GET' | 'POST') =>
    send({ method, path }).then(
      () => assert.fail('it was answered'),
      (error: unknown) => error
    )
  const read = failure('GET')
  const change = failure('POST').finally(() => {
    isChangeOver = true
  })
  await asked.promise
  pass(MINUTE_MS)
  assert.ok((await read) instanceof Refusal)
  // As much longer as a change that had been given up with the read would need.
  await setImmediate()
  assert.equal(isChangeOver, false)
  pass(2 * MINUTE_MS)
  const error = await change
  assert.ok(error instanceof Refusal && error.code === 'unreachable' && isOutcomeUnknown(error))
})
