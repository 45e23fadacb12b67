import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Sha256Hasher } from '../../src/vault/hasher.ts'

test('a secret is hashed with SHA-256, as hex', () => {
  assert.equal(new Sha256Hasher(new Uint8Array(32)).hash('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('hashes of any lengths can be compared', () => {
  const hasher = new Sha256Hasher(new Uint8Array(32))
  assert.equal(hasher.equal('a1', 'a1'), true)
  assert.equal(hasher.equal('a1', 'a2'), false)
  assert.equal(hasher.equal('a1', 'a1a1'), false)
  assert.equal(hasher.equal('', 'a1'), false)
  const hash = hasher.hash('abc')
  assert.equal(hasher.equal(hash, hasher.hash('abc')), true)
  assert.equal(hasher.equal(hash, `${hash.slice(0, -1)}0`), false)
  assert.equal(hasher.equal('\u0101'.repeat(64), '\u0001'.repeat(64)), false)
})

test('what is derived depends on the text and on the instance', () => {
  const [one, other] = [new Sha256Hasher(Buffer.alloc(32, 1)), new Sha256Hasher(Buffer.alloc(32, 2))]
  assert.deepEqual(one.derive('order 1'), new Sha256Hasher(Buffer.alloc(32, 1)).derive('order 1'))
  assert.notDeepEqual(one.derive('order 1'), one.derive('order 2'))
  assert.notDeepEqual(one.derive('order 1'), other.derive('order 1'))
})

test('what is derived is the HMAC of the text, at any length of key and text', () => {
  for (const keyBytes of [16, 32, 64, 65, 200]) {
    const key = Buffer.alloc(keyBytes, 'instance key')
    const hasher = new Sha256Hasher(key)
    for (const text of [
      '',
      'order 1',
      'ü€😀',
      'x'.repeat(192),
      'x'.repeat(193),
      'ü'.repeat(96),
      'ü'.repeat(97),
      'long '.repeat(1_000),
      'order 2'
    ])
      assert.deepEqual(Buffer.from(hasher.derive(text)), createHmac('sha256', key).update(text, 'utf8').digest(), `${keyBytes}, ${text}`)
  }
})
