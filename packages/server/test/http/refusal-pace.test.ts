import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import Fastify from 'fastify'
import { RefusalPace } from '../../src/http/refusal-pace.ts'
import { answerFailures } from '../../src/http/serve.ts'

const LIMITS = { prompt: { perSecond: 2, burst: 3 }, waitMs: 500, waitingMax: 2 }

function paced() {
  const clock = new VirtualClock()
  const pace = new RefusalPace(clock, LIMITS)
  const sent: string[] = []
  const refuse = (name: string) => pace.pace(() => void sent.push(name))
  return { clock, pace, sent, refuse }
}

test('refusals above the rate are delayed, in order; beyond the maximum number of delayed ones they are sent at once', async () => {
  const { clock, sent, refuse } = paced()
  for (const name of ['1', '2', '3', '4', '5', '6']) refuse(name)
  assert.deepEqual(sent, ['1', '2', '3', '6'])
  await clock.advance(499)
  assert.deepEqual(sent, ['1', '2', '3', '6'])
  await clock.advance(1)
  assert.deepEqual(sent, ['1', '2', '3', '6', '4', '5'])
  refuse('7')
  assert.equal(sent.at(-1), '7')
})

test('delayed refusals are sent once when the pacing ends, and none is delayed after that', async () => {
  const { clock, pace, sent, refuse } = paced()
  for (const name of ['1', '2', '3', '4']) refuse(name)
  pace.end()
  refuse('5')
  await clock.advance(1_000)
  assert.deepEqual(sent, ['1', '2', '3', '4', '5'])
})

test('401 and 429 are delayed; other responses are not, and a shutdown does not wait for delayed ones [S29]', async () => {
  const clock = new VirtualClock()
  const app = Fastify()
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  answerFailures(app, { log }, new RefusalPace(clock, { ...LIMITS, prompt: { perSecond: 1, burst: 1 } }))
  const failing = { '/401': 'credentials_invalid', '/429': 'rate_limited', '/404': 'route_not_found' } as const
  for (const [path, code] of Object.entries(failing)) app.get(path, async () => Promise.reject(new ServiceError(code, 'No.')))
  app.get('/', async () => 'served')
  const answered: number[] = []
  const ask = async (url: string) => void answered.push((await app.inject(url)).statusCode)
  await ask('/401')
  const waiting = [ask('/401')]
  await ask('/404')
  await ask('/')
  assert.deepEqual(answered, [401, 404, 200])
  await clock.advance(500)
  await waiting[0]
  waiting.push(ask('/429'))
  await ask('/')
  assert.deepEqual(answered, [401, 404, 200, 401, 200])
  await app.close()
  await waiting[1]
  assert.equal(answered.at(-1), 429)
})
