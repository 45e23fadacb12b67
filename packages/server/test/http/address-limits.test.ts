import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { AddressLimits } from '../../src/http/address-limits.ts'

const LIMITS = { page: { perSecond: 1, burst: 3 }, probe: { perSecond: 1, burst: 2 } }

const from = (ip: string, limit?: 'probe' | 'page' | 'credentials') => ({
  ip,
  routeOptions: { config: limit === undefined ? {} : { limit } }
})

test('an address that asks too often without credentials is refused, others and health checks are not', () => {
  const limits = new AddressLimits(new VirtualClock(), LIMITS)
  const taken = (...asker: Parameters<typeof from>) => limits.refusal(from(...asker)) === null
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

test('all addresses of a /64 share what one may ask for', () => {
  const limits = new AddressLimits(new VirtualClock(), LIMITS)
  const taken = [1, 2, 3, 4, 5].map(host => limits.refusal(from(`2001:db8::${host}`)) === null)
  assert.deepEqual(taken, [true, true, true, false, false])
})
