import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERROR_CODES, ServiceError } from '@trunkline/core/domain/errors'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Log, LogFields } from '@trunkline/core/ports/log'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import Fastify from 'fastify'
import { accessRecorder } from '../../src/http/access.ts'
import type { ObservedRequest } from '../../src/http/options.ts'
import { HTTP_STATUS, problemOf } from '../../src/http/problems.ts'
import { answerFailures, takeJson } from '../../src/http/serve.ts'

const SECRET = 'us_canary'

class RecordingLog implements Log {
  readonly all: { readonly level: string; readonly message: string; readonly fields: LogFields | undefined }[] = []
  debug = (message: string, fields?: LogFields): void => void this.all.push({ level: 'debug', message, fields })
  info = (message: string, fields?: LogFields): void => void this.all.push({ level: 'info', message, fields })
  warn = (message: string, fields?: LogFields): void => void this.all.push({ level: 'warn', message, fields })
  error = (message: string, fields?: LogFields): void => void this.all.push({ level: 'error', message, fields })
}

test('every error code has its HTTP status', () => {
  const allowed = [400, 401, 404, 405, 408, 409, 413, 422, 426, 429, 431, 500, 503]
  for (const code of ERROR_CODES) {
    assert.ok(allowed.includes(HTTP_STATUS[code]), code)
    const problem = problemOf(new ServiceError(code, 'words', { retryAfterSeconds: 3 }))
    assert.deepEqual([problem.status, problem.code, problem.message, problem.retryAfterSeconds], [HTTP_STATUS[code], code, 'words', 3])
  }
  assert.equal(problemOf(new ServiceError('user_not_found', ''), { user_not_found: 400 }).status, 400)
})

test('errors of the service’s modules are reported as API errors', () => {
  const of = (error: unknown) => {
    const { status, code, retryAfterSeconds, unexpected } = problemOf(error)
    return [status, code, retryAfterSeconds ?? null, unexpected]
  }
  assert.deepEqual(of(new StoreUnavailable('x')), [503, 'store_unavailable', 1, false])
  assert.deepEqual(of(new CommitUnknown('x')), [500, 'internal', null, true])
  assert.deepEqual(of(new BrokerFault('unreachable', 'x')), [503, 'broker_unavailable', 5, false])
  assert.deepEqual(of(new BrokerFault('rate_limited', 'x', { retryAfterMs: 1_200 })), [503, 'broker_unavailable', 2, false])
  assert.match(problemOf(new BrokerFault('rate_limited', 'x')).message, /^The broker’s rate limit leaves no capacity/)
  assert.match(problemOf(new BrokerFault('malformed', 'x')).message, /^The broker’s answer cannot be read/)
  assert.deepEqual(of(new BrokerFault('credentials_rejected', 'x')), [409, 'connection_broken', null, false])
  for (const thrown of [new TypeError('x'), 'text', null, undefined, 7, { code: 'FST_SOMETHING' }]) {
    assert.deepEqual(of(thrown), [500, 'internal', null, true])
  }
})

test('a handler that fails answers 500 with a general message, is logged once, and the next request is served', async () => {
  const log = new RecordingLog()
  const observed: ObservedRequest[] = []
  const app = Fastify()
  app.decorateRequest('isProven', false)
  takeJson(app)
  answerFailures(app, { log })
  app.addHook(
    'onResponse',
    accessRecorder(log, { accessLog: 'problems', observe: request => void observed.push(request) }, () => 0)
  )
  const thrown = new TypeError(`no such thing as ${SECRET}`, { cause: new Error('deeper') })
  app.get('/throws/:how', async request => {
    if (request.url.includes('late')) await new Promise(resolve => setImmediate(resolve))
    throw thrown
  })
  app.get('/fine', async () => ({ fine: true }))
  for (const how of ['early', 'late']) {
    const answer = await app.inject(`/throws/${how}?secret=${SECRET}`)
    assert.equal(answer.statusCode, 500)
    assert.deepEqual(Object.keys(answer.json()).sort(), ['code', 'message', 'request_id'])
    assert.ok(!answer.body.includes(SECRET) && !answer.body.includes('TypeError'))
  }
  assert.deepEqual((await app.inject('/fine')).json(), { fine: true })
  const errors = log.all.filter(({ level }) => level === 'error')
  assert.equal(errors.length, 2)
  assert.deepEqual(
    errors.map(({ fields }) => [fields?.route, fields?.error]),
    Array(2).fill(['/throws/:how', thrown])
  )
  assert.deepEqual(
    observed.map(({ method, route, status }) => [method, route, status]),
    [
      ['GET', '/throws/:how', 500],
      ['GET', '/throws/:how', 500],
      ['GET', '/fine', 200]
    ]
  )
  const access = log.all.filter(({ message }) => message === 'request')
  assert.equal(access.length, 2, 'only problems have a line')
  assert.ok(!JSON.stringify(access).includes(SECRET))
  await app.close()
})

test('a flood of refused requests logs a bounded number of lines; requests of authenticated clients are all logged', async () => {
  const log = new RecordingLog()
  const app = Fastify()
  app.decorateRequest('isProven', false)
  app.addHook(
    'onResponse',
    accessRecorder(log, { accessLog: 'all', observe() {} }, () => 0)
  )
  app.get('/:status', async (request, reply) => {
    request.isProven = request.headers['client-id'] === 'known'
    return reply.code(Number(Object(request.params).status)).send('')
  })
  const lines = async (status: number, headers: Readonly<Record<string, string>> = {}) => {
    const before = log.all.length
    for (let count = 0; count < 600; count++) await app.inject({ url: `/${status}`, headers })
    return log.all.length - before
  }
  for (const status of [400, 413, 422, 431, 503]) assert.ok((await lines(status)) <= 500, `${status}`)
  assert.equal(await lines(400, { 'client-id': 'known' }), 600)
  assert.equal(await lines(500), 600, 'a fault of ours is always there')
})
