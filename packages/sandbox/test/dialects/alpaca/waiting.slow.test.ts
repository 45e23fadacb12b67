// Real time passes here: ten seconds, in which nobody says who they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrokerage, StreamClient } from './support.ts'

test('whoever does not authenticate within ten seconds is told so and sent away', async () => {
  await using brokerage = await openBrokerage()
  const stream = await StreamClient.open(brokerage, '/data-stream/v2/iex')
  const began = performance.now()
  await stream.until((_messages, { closed }) => closed !== undefined)
  assert.ok(performance.now() - began > 9_000)
  assert.deepEqual(stream.messages.at(-1), { T: 'error', code: 404, msg: 'auth timeout' })
})
