import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REJECT_CODES, type RejectCode } from '@trunkline/core/domain/vocabulary'
import { REFUSAL_CODES } from '@trunkline/sandbox/engine/enums'
import { rejectCodeOf } from '../../src/sandbox/codecs.ts'

// What can only be wrong with the request, or with an order that is not there: no reason for which an order is rejected.
const NO_REASONS = ['unknown_account', 'unknown_order', 'duplicate_account', 'duplicate_client_order_id', 'bad_client_order_id']
const OTHERS = ['bad_instrument', 'bad_legs', 'order_not_open']

test('every refusal of the sandbox that is about the order itself has its own code', () => {
  const known: ReadonlySet<RejectCode> = new Set(REJECT_CODES)
  for (const code of REFUSAL_CODES) {
    const found = rejectCodeOf(code)
    assert.ok(known.has(found))
    assert.equal(found === 'other', NO_REASONS.includes(code) || OTHERS.includes(code), code)
  }
  assert.equal(rejectCodeOf('refused_by_operator'), 'other')
  assert.equal(rejectCodeOf('constructor'), 'other')
})
