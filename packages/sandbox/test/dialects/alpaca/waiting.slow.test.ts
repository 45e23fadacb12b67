// Real time passes here: ten seconds, in which nobody says who they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Line, openHouse } from './support.ts'

test('whoever does not authenticate within ten seconds is told so and sent away', async () => {
  await using house = await openHouse()
  const line = await Line.open(house, '/data-stream/v2/iex')
  const began = performance.now()
  await line.until((_messages, { closed }) => closed !== undefined)
  assert.ok(performance.now() - began > 9_000)
  assert.deepEqual(line.messages.at(-1), { T: 'error', code: 404, msg: 'auth timeout' })
})
