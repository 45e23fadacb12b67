// How long the console waits for answers, on a clock of its own.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { isOutcomeUnknown, Refusal, send } from '../src/api.ts'

const MINUTE_MS = 60_000

test('a read is given up before a minute; a change, for which the service may take a minute, after it, and is unknown then', async t => {
  const asked = Promise.withResolvers<void>()
  let unanswered = 0
  const service = createServer(({ url }, response) => {
    if (url === '/answered') response.end()
    else unanswered += 1
    if (unanswered === 2) asked.resolve()
  })
  await using end = new AsyncDisposableStack()
  end.use(service)
  end.defer(() => service.closeAllConnections())
  await new Promise<void>(resolve => service.listen(0, '127.0.0.1', resolve))
  const address = service.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  const origin = `http://127.0.0.1:${address.port}`
  t.mock.timers.enable()
  let isChangeOver = false
  const failure = async (method: 'GET' | 'POST') => {
    try {
      return await send({ method, path: `${origin}/admin/v1/x` })
    } catch (error) {
      return error
    }
  }
  const read = failure('GET')
  const change = failure('POST').finally(() => {
    isChangeOver = true
  })
  await asked.promise
  t.mock.timers.tick(MINUTE_MS)
  assert.ok((await read) instanceof Refusal)
  // Longer than a change takes to fail that was given up with the read.
  await fetch(`${origin}/answered`)
  assert.equal(isChangeOver, false)
  t.mock.timers.tick(MINUTE_MS)
  const error = await change
  assert.ok(error instanceof Refusal && error.code === 'unreachable' && isOutcomeUnknown(error))
})
