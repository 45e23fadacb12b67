import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressGroup } from '../../src/auth/address.ts'
import { credentialsOf } from '../../src/http/credentials.ts'

const read = (raw: readonly string[]) => {
  const headers: Record<string, string> = {}
  for (let at = 0; at < raw.length; at += 2) {
    const name = String(raw[at]).toLowerCase()
    headers[name] = name in headers ? `${headers[name]}, ${raw[at + 1]}` : String(raw[at + 1])
  }
  return credentialsOf(headers, raw)
}

test('the four headers are read, and what is absent is undefined', () => {
  assert.deepEqual(read(['Client-Id', 'a', 'CLIENT-SECRET', 'b', 'user-id', 'c']), {
    clientId: 'a',
    clientSecret: 'b',
    userId: 'c',
    userSecret: undefined
  })
})

test('a header that was sent twice counts as not sent, equal values included', () => {
  assert.equal(read(['client-id', 'a', 'client-id', 'b']).clientId, undefined)
  assert.equal(read(['user-id', 'a', 'User-Id', 'a']).userId, undefined)
  assert.equal(read(['user-id', 'a, b']).userId, 'a, b', 'a comma alone is no repetition')
})

test('a user id is UTF-8, or Latin-1 where it is not', () => {
  assert.equal(read(['user-id', Buffer.from('Zoë 日本', 'utf8').toString('latin1')]).userId, 'Zoë 日本')
  assert.equal(read(['user-id', 'Zo\u00eb']).userId, 'Zoë')
})

test('addresses are counted alone, those of IPv6 by their network', () => {
  assert.equal(addressGroup('192.0.2.7'), '192.0.2.7')
  assert.equal(addressGroup('::ffff:192.0.2.7'), '192.0.2.7')
  assert.equal(addressGroup('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  assert.equal(addressGroup('2001:db8:1:2::6'), '2001:db8:1:2')
  assert.equal(addressGroup('2001:db8::1'), '2001:db8:0:0')
  assert.equal(addressGroup('::1'), '0:0:0:0')
})
