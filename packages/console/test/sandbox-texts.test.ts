// How faults and books of the sandbox are written: what was given is shown, and what was written is sent as it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SandboxFault } from '../src/generated/admin.ts'
import { levelsIn, levelText } from '../src/quote-levels.ts'
import { faultText, KNOWN_FAULTS, narrowedText, setOnes } from '../src/sandbox-faults.ts'

function fault(changes: Partial<SandboxFault>): SandboxFault {
  return {
    ...{ fault_id: 'fault-1', on: 'orders.submit', do: 'refuse', times: 1, left: 1, hits: 0, skip: 0, login: null, symbol: null },
    ...{ client_order_id: null, after: false, ms: 0, status: null, retry_after: null, code: null, message: null, ...changes }
  }
}

test('a book is read as it is written, and what is no level is left for the service to refuse', () => {
  assert.deepEqual(levelsIn('99.99 x 5, 99.98x10'), [
    { price: '99.99', quantity: '5' },
    { price: '99.98', quantity: '10' }
  ])
  assert.deepEqual(levelsIn(' '), [])
  assert.deepEqual(levelsIn('99.99'), [{ price: '99.99', quantity: '' }])
  assert.deepEqual(levelsIn(levelText('0.10', '1000000')), [{ price: '0.10', quantity: '1000000' }])
  assert.equal(levelText(null, null), '')
})

test('a fault is shown with the figures of its effect, and only with those that it has', () => {
  assert.equal(faultText(fault({})), 'refuse')
  assert.equal(faultText(fault({ do: 'delay', ms: 2_000, skip: 3 })), 'delay (2000 ms, after 3 that pass)')
  assert.equal(
    faultText(fault({ do: 'status', status: 429, retry_after: 5, code: 'slow_down', after: true })),
    'status (status 429, Retry-After 5 s, code slow_down, after it was carried out)'
  )
})

test('a fault says whose requests it hits', () => {
  assert.equal(narrowedText(fault({})), null)
  assert.equal(narrowedText(fault({ login: 'alex', symbol: 'AAPL', client_order_id: 'x-1' })), 'user alex, symbol AAPL, order x-1')
})

test('a button is pressed for the fault that it sets, of everybody, and for no other', () => {
  const late = KNOWN_FAULTS.find(({ ticket }) => ticket.do === 'delay') ?? assert.fail('there is a button for delays')
  const set = fault({ on: '*', do: 'delay', ms: late.ticket.ms ?? 0, times: null, left: null })
  assert.deepEqual(setOnes(late, [fault({}), set]), [set])
  for (const other of [{ login: 'alex' }, { symbol: 'AAPL' }, { client_order_id: 'x' }, { ms: 1 }, { times: 1 }])
    assert.deepEqual(setOnes(late, [{ ...set, ...other }]), [], JSON.stringify(other))
})
