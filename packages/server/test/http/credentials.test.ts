import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repeatedHeader } from '../../src/auth/repeated-header.ts'
import { credentialsOf, missingCredentials } from '../../src/http/credentials.ts'

const read = credentialsOf

test('the four headers are read, and what is absent is undefined', () => {
  assert.deepEqual(read({ 'client-id': 'a', 'client-secret': 'b', 'user-id': 'c' }), {
    clientId: 'a',
    clientSecret: 'b',
    userId: 'c',
    userSecret: undefined
  })
})

test('a missing header is named, an empty one too', () => {
  assert.deepEqual(missingCredentials({}, 'platform'), ['client-id', 'client-secret'])
  assert.deepEqual(missingCredentials({ 'client-id': 'a', 'client-secret': '' }, 'platform'), ['client-secret'])
  const given = { 'client-id': 'a', 'client-secret': 'b', 'user-id': 'c' }
  assert.deepEqual(missingCredentials(given, 'user'), ['user-secret'])
  assert.deepEqual(missingCredentials(given, 'platform'), [])
})

test('a header that two parsers could read differently may occur only once [S34]', () => {
  const raw = ['Host', 'a', 'Accept', 'x', 'accept', 'y', 'X-Forwarded-For', '1', 'X-Forwarded-For', '2', 'client-id', 'c']
  assert.equal(repeatedHeader(raw), null)
  for (const name of ['host', 'client-id', 'client-secret', 'user-id', 'user-secret', 'content-type', 'authorization', 'origin'])
    assert.equal(repeatedHeader([...raw, name.toUpperCase(), 'a', 'x-other', 'b', name, 'a']), name)
  assert.equal(repeatedHeader(['user-id', 'a', 'user-secret', 'b']), null, 'one name within another')
})

test('a user id is decoded as UTF-8, or as Latin-1 if it is not valid UTF-8', () => {
  assert.equal(read({ 'user-id': Buffer.from('Zoë 日本', 'utf8').toString('latin1') }).userId, 'Zoë 日本')
  assert.equal(read({ 'user-id': 'Zo\u00eb' }).userId, 'Zoë')
})
