import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { AddressLimits } from '../../src/http/address-limits.ts'

const LIMITS = { page: { perSecond: 1, burst: 3 }, probe: { perSecond: 1, burst: 2 } }

const from = (ip: string, limit?: 'probe' | 'page' | 'credentials') => ({
  ip,
  routeOptions: { config: limit === undefined ? {} : { limit } }
})

test('an address that sends too many requests without credentials is refused; other addresses and health checks are not', () => {
  const limits = new AddressLimits(new VirtualClock(), LIMITS)
  const taken = (...requester: Parameters<typeof from>) => limits.refusal(from(...requester)) === null
  assert.deepEqual(
    [1, 2, 3, 4].map(() => taken('192.0.2.7')),
    [true, true, true, false]
  )
  assert.deepEqual(
    [1, 2, 3].map(() => taken('192.0.2.7', 'probe')),
    [true, true, false]
  )
  assert.equal(taken('192.0.2.8'), true)
  assert.equal(taken('192.0.2.7', 'credentials'), true, 'endpoints count their own failures')
  const refusal = limits.refusal(from('192.0.2.7'))
  assert.deepEqual([refusal?.code, refusal?.retryAfterSeconds], ['rate_limited', 1])
})

test('all addresses of a /64 share one limit', () => {
  const limits = new AddressLimits(new VirtualClock(), LIMITS)
  const taken = [1, 2, 3, 4, 5].map(host => limits.refusal(from(`2001:db8::${host}`)) === null)
  assert.deepEqual(taken, [true, true, true, false, false])
})

test('a network has four times the limit of an address, and refused requests do not count against it', () => {
  const limits = new AddressLimits(new VirtualClock(), LIMITS)
  const taken = (ip: string) => limits.refusal(from(ip)) === null
  for (let count = 0; count < 50; count++) taken('192.0.2.1')
  const others = Array.from({ length: 30 }, (_, index) => taken(`192.0.2.${2 + index}`))
  assert.equal(others.filter(Boolean).length, 4 * LIMITS.page.burst - LIMITS.page.burst)
  assert.equal(taken('198.51.100.1'), true)
  const ofOne48 = Array.from({ length: 30 }, (_, index) => taken(`2001:db8:0:${index}::1`))
  assert.equal(ofOne48.filter(Boolean).length, 4 * LIMITS.page.burst)
})

test('a request that is refused before its credentials are checked counts as one without credentials', () => {
  const limits = new AddressLimits(new VirtualClock(), LIMITS)
  const taken = [1, 2, 3, 4].map(() => limits.refusal(from('192.0.2.7', 'credentials'), true) === null)
  assert.deepEqual(taken, [true, true, true, false])
  assert.equal(limits.refusal(from('192.0.2.7', 'credentials')), null)
})
