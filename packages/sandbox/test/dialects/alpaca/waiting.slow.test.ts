// Real time passes here: ten seconds without authentication.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrokerage, StreamClient } from './support.ts'

test('a client that does not authenticate within ten seconds gets an error and is disconnected', async () => {
  await using brokerage = await openBrokerage()
  const stream = await StreamClient.open(brokerage, '/data-stream/v2/iex')
  const began = performance.now()
  await stream.until((_messages, { closed }) => closed !== undefined)
  assert.ok(performance.now() - began > 9_000)
  assert.deepEqual(stream.messages.at(-1), { T: 'error', code: 404, msg: 'auth timeout' })
})
