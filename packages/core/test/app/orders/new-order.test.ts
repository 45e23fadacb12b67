import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { brokerClOrdIdOf } from '../../../src/app/orders/new-order.ts'
import { type OrderId, parseUuid } from '../../../src/domain/ids.ts'
import type { Hasher } from '../../../src/ports/vault.ts'

const ORDER = parseUuid<OrderId>('0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71', 'order_id')
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function deriving(bytes: Uint8Array): Hasher {
  return { hash: () => '', equal: () => false, derive: () => bytes }
}

/** The bytes as a number of base 62, by bigints. */
function plain(bytes: Uint8Array): string {
  let text = ''
  for (let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text
  return text.padStart(22, '0')
}

test('the client order id at a broker is 128 bits of what is derived, as a number of base 62', () => {
  const bits = [...Array(200).keys()].map(index => createHash('sha256').update(String(index)).digest())
  for (const bytes of [Buffer.alloc(32), Buffer.alloc(32, 255), Buffer.alloc(32, 1), ...bits]) {
    const expected = plain(bytes.subarray(0, 16))
    assert.equal(brokerClOrdIdOf(deriving(bytes), ORDER, { lengthMax: 64, alphabet: 'alphanumeric' }), expected)
    assert.equal(brokerClOrdIdOf(deriving(bytes), ORDER, { lengthMax: 20, alphabet: 'alphanumeric' }), expected.slice(2))
  }
})

test('it is written as a UUID where a broker demands one', () => {
  const bytes = Buffer.from('00112233445566778899aabbccddeeff0123', 'hex')
  assert.equal(brokerClOrdIdOf(deriving(bytes), ORDER, { lengthMax: 36, alphabet: 'uuid' }), '00112233-4455-6677-8899-aabbccddeeff')
})
