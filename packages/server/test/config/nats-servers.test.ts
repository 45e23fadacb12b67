import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNatsServers } from '../../src/config/nats-servers.ts'

const nothing = { user: null, password: null, token: null, tls: false }

test('the servers of NATS, their credentials and TLS are read from one text', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['nats://host', { ...nothing, addresses: ['host:4222'] }],
    ['nats://10.0.0.1:4000/', { ...nothing, addresses: ['10.0.0.1:4000'] }],
    ['tls://host', { ...nothing, addresses: ['host:4222'], tls: true }],
    ['nats://[::1]:4000', { ...nothing, addresses: ['[::1]:4000'] }],
    ['nats://a:p%40s@one:1, nats://a:p%40s@two:2', { ...nothing, addresses: ['one:1', 'two:2'], user: 'a', password: 'p@s' }],
    ['nats://to%2Fken@host', { ...nothing, addresses: ['host:4222'], token: 'to/ken' }]
  ]
  for (const [text, servers] of cases) assert.deepEqual(parseNatsServers(text), servers, text)
})

test('what is not servers of one cluster is refused, without repeating it', () => {
  const refused = [
    ...['', 'canary', 'http://canary', 'nats://', 'nats://a:canary@host/path', 'nats://a:canary@host?x', 'nats://canary%zz@host'],
    ...['nats://a:canary@one,nats://b:canary@two', 'nats://a:canary@one,tls://a:canary@two', 'nats://a:canary@one,', 'ws://canary@host'],
    ...['tls://canary@10.0.0.1', 'tls://canary@[::1]:4222'],
    Array.from({ length: 17 }, () => 'nats://canary').join(',')
  ]
  for (const text of refused)
    assert.throws(
      () => parseNatsServers(text),
      (error: unknown) => error instanceof Error && !error.message.includes('canary') && error.message.startsWith('addresses of NATS'),
      text
    )
})
