// The orderly end of the service: sessions get everything pending, then are closed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Body } from './api.ts'
import { assertAgrees, assertLawful } from './stream-ledger.ts'
import { Stage } from './stream-stage.ts'

const GOING_AWAY = 1001
const ORDERS = 200
const ANSWERED = 10

test('a stop in the middle of trading sends what was done, then closes the broker stream with 1001', async () => {
  await using stage = await Stage.open('embedded')
  const ada = await stage.trader('ada')
  await using reading = await stage.session(['all'])
  await using paused = await stage.session(['all'])
  await using idle = await stage.session()
  await using unauthenticated = await stage.unauthenticated()
  for (const client of [reading, paused]) await client.follow(ada.userId, 0)
  paused.pause()
  const { waited } = await waitAsOperator(stage)
  const answered: Body[] = []
  const trading = Array.from({ length: ORDERS }, async (_, index) => {
    answered.push(index % 2 === 0 ? await ada.buy() : await ada.rest())
    if (answered.length === ANSWERED) stage.service.interrupt()
  })
  await Promise.allSettled(trading)
  assert.equal((await reading.ended()).code, GOING_AWAY)
  paused.resume()
  for (const client of [paused, idle, unauthenticated]) assert.equal((await client.ended()).code, GOING_AWAY)
  assert.ok(answered.length >= ANSWERED)
  assertLawful(reading.updates, 0)
  for (const answer of answered) assertAgrees(reading.updates, answer)
  assert.deepEqual(
    paused.updates.map(({ text }) => text),
    reading.updates.map(({ text }) => text)
  )
  await until(() => !stage.service.isRunning(), 'the service has ended')
  // It would have waited for 25 seconds: the service is given half of that.
  assert.equal((await waited).status, 200)
})

/** A request of an operator's that waits for events of a user who has none. */
async function waitAsOperator(stage: Stage): Promise<{ readonly waited: Promise<Response> }> {
  const idle = await stage.trader('idle')
  const { key } = await stage.operate('operator', 'key', 'create', '--name', 'waits', '--scope', 'read')
  const ask = (path: string) => fetch(`${stage.service.url}/admin/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  const found: Body = await (await ask(`/search?q=${idle.userId}`)).json()
  return { waited: ask(`/events?user=${found.data[0].id}&after=1000000&wait=25`) }
}
