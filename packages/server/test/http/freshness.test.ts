// The header with the freshness of records.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Freshness } from '@trunkline/core/domain/freshness'
import * as make from '@trunkline/testkit/store-contract/records'
import { freshnessHeader, withFreshness } from '../../src/http/freshness.ts'

const one = (more: Partial<Freshness> = {}): Freshness => ({
  accountId: make.uuid<Freshness['accountId']>(),
  confirmed: make.at(0),
  state: 'live',
  reason: null,
  ...more
})

test('each account is a member with its parameters', () => {
  const live = one()
  const gone = one({ confirmed: null, state: 'unavailable', reason: 'connection_broken' })
  assert.equal(
    freshnessHeader([live, gone]),
    `"${live.accountId}";confirmed="${live.confirmed}";state=live, "${gone.accountId}";state=unavailable;reason=connection_broken`
  )
})

test('records that could not be stored report not_stored', () => {
  const stale = one({ state: 'stale', reason: 'not_stored' })
  assert.equal(freshnessHeader([stale]), `"${stale.accountId}";confirmed="${stale.confirmed}";state=stale;reason=not_stored`)
})

test('without accounts there is no header', () => {
  assert.deepEqual(withFreshness([], []).headers, {})
})

test('of many accounts the worst are listed, with the number of the others: the header stays below 4 KB', () => {
  const many = [...Array.from({ length: 500 }, () => one()), one({ state: 'stale', reason: 'broker_unavailable' })]
  const header = freshnessHeader(many) ?? ''
  assert.ok(header.length < 4_096, `${header.length}`)
  assert.match(header, /^"[0-9a-f-]{36}";confirmed="[^"]+";state=stale;reason=broker_unavailable, "/)
  assert.match(header, /, \*;more=471;state=live$/)
})
