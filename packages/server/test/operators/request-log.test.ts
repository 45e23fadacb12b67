import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnsweredRequest, RequestLog } from '../../src/operators/request-log.ts'

const MINUTE = 60_000

function answered(requestId: string, more: Partial<AnsweredRequest> = {}): AnsweredRequest {
  const who = { platformId: null, userKey: null, address: '192.0.2.1' }
  return {
    at: '2026-11-20T14:30:00Z',
    requestId,
    method: 'GET',
    route: '/orders',
    status: 200,
    code: null,
    milliseconds: 2,
    ...who,
    ...more
  }
}

test('a flood of requests displaces no failure, and a flood of failures is bounded', () => {
  const log = new RequestLog(() => 0)
  log.add(answered('lost', { status: 503, code: 'store_unavailable' }))
  for (let index = 0; index < 5_000; index += 1) log.add(answered(`r-${index}`))
  const newest = log.newest('all', 10_000, () => true)
  assert.deepEqual(
    [newest.length, newest[0]?.requestId, newest.at(-2)?.requestId, newest.at(-1)?.requestId],
    [2_001, 'r-4999', 'r-3000', 'lost']
  )
  for (const which of ['failed', 'all'] as const)
    assert.deepEqual(
      log.newest(which, 10, ({ requestId }) => requestId === 'lost').map(({ code }) => code),
      ['store_unavailable'],
      which
    )
  for (let index = 0; index < 5_000; index += 1) log.add(answered(`f-${index}`, { status: 401, code: 'credentials_invalid' }))
  assert.equal(log.newest('failed', 10_000, () => true).length, 2_000)
})

test('what the console reads by itself is left out, unless it fails', () => {
  const log = new RequestLog(() => 0)
  for (const route of ['/console/*', '/admin/v1/overview']) {
    log.add(answered('own', { route }))
    log.add(answered('failed', { route, status: 503, code: 'store_unavailable' }))
  }
  log.add(answered('other', { route: '/administrators' }))
  assert.deepEqual(
    log.newest('all', 10, () => true).map(({ requestId }) => requestId),
    ['other', 'failed', 'failed']
  )
  assert.deepEqual(log.minutes(), [{ atMs: 0, requests: 1, errors: {} }])
})

test('traffic is counted by minute and code, and forgotten after a day', () => {
  let now = 0
  const log = new RequestLog(() => now)
  log.add(answered('a', { status: 429, code: 'rate_limited' }))
  now = 50 * MINUTE
  log.add(answered('b', { status: 429, code: 'rate_limited' }))
  log.add(answered('c', { status: 502 }))
  log.add(answered('d'))
  const counts = () => log.minutes().map(({ atMs, requests, errors }) => [atMs / MINUTE, requests, errors])
  const later = [50, 3, { rate_limited: 1, status_502: 1 }]
  assert.deepEqual(counts(), [[0, 1, { rate_limited: 1 }], later])
  now = 24 * 60 * MINUTE + 10 * MINUTE
  assert.deepEqual(counts(), [later])
})

test('a clock that was set back counts into the newest minute', () => {
  let now = 10 * MINUTE
  const log = new RequestLog(() => now)
  log.add(answered('a'))
  now = 5 * MINUTE
  log.add(answered('b'))
  assert.deepEqual(
    log.minutes().map(({ atMs, requests }) => [atMs / MINUTE, requests]),
    [[10, 2]]
  )
})
