// A page that could not be made has the status of the API's answer, and its headers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import Fastify from 'fastify'
import { problemOf } from '../../src/http/problems.ts'
import { answerFailures } from '../../src/portal/failures.ts'

test('a refused page has its status and retry-after', async () => {
  const logged: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error: (message: string) => void logged.push(message) }
  const app = Fastify()
  answerFailures(app, log, problemOf)
  const thrown: readonly (readonly [error: unknown, status: number, retryAfter: string | undefined])[] = [
    [new ServiceError('rate_limited', 'x', { retryAfterSeconds: 7 }), 429, '7'],
    [new ServiceError('headers_too_large', 'x'), 431, undefined],
    [new ServiceError('header_invalid', 'x'), 400, undefined],
    [new ServiceError('shutting_down', 'x', { retryAfterSeconds: 1 }), 503, '1'],
    [new StoreUnavailable('x'), 503, '1'],
    [Object.assign(new Error('a form too long'), { statusCode: 413 }), 413, undefined],
    [new TypeError('x'), 500, undefined]
  ]
  app.get<{ Params: { at: string } }>('/:at', ({ params: { at } }) => {
    throw thrown[Number(at)]?.[0]
  })
  for (const [at, [, status, retryAfter]] of thrown.entries()) {
    const answer = await app.inject(`/${at}`)
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [status, retryAfter], `${at}`)
    assert.match(String(answer.headers['content-type']), /^text\/html/)
  }
  assert.equal(logged.length, 1)
})
