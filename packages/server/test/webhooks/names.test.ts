// Names of endpoints are resolved without the machine's own resolver, and a silent name server holds nothing but the names it is asked for.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { lookup, Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { test } from 'node:test'
import { type NameServer, Names } from '../../src/webhooks/names.ts'

const HOSTS = `127.0.0.1 localhost
# 10.0.0.1 hidden
10.1.2.3   Receiver.internal other  # ours
fd00::3    receiver.internal
not-an-address broken
`
const NOTHING: NameServer = { resolve4: async () => [], resolve6: async () => [] }

function namesWith(server: Partial<NameServer> = {}, hosts = HOSTS) {
  let nowMs = 0
  let reads = 0
  const options = {
    server: { ...NOTHING, ...server },
    hosts: async () => {
      reads += 1
      return hosts
    },
    monotonicMs: () => nowMs
  }
  return { names: new Names(options), reads: () => reads, wait: (ms: number) => (nowMs += ms) }
}

const texts = (found: readonly { readonly address: string }[]) => found.map(({ address }) => address)

test('names of the hosts file come first, and localhost is this machine; the file is read again after a while', async () => {
  const { names, reads, wait } = namesWith()
  assert.deepEqual(texts(await names.resolve('receiver.internal')), ['10.1.2.3', 'fd00::3'])
  assert.deepEqual(texts(await names.resolve('other')), ['10.1.2.3'])
  assert.deepEqual(texts(await names.resolve('hidden')), [])
  assert.deepEqual(texts(await namesWith({}, '').names.resolve('localhost')), ['127.0.0.1', '::1'])
  assert.equal(reads(), 1)
  wait(10_001)
  await names.resolve('other')
  assert.equal(reads(), 2)
})

test('addresses of both kinds are found, one kind is enough, and none is an error of the servers', async () => {
  const four = { resolve4: async () => ['192.0.2.1'] }
  assert.deepEqual(texts(await namesWith({ ...four, resolve6: async () => ['2001:db8::1'] }).names.resolve('a.example')), [
    '192.0.2.1',
    '2001:db8::1'
  ])
  const failing = async () => Promise.reject(new Error('ENODATA'))
  assert.deepEqual(texts(await namesWith({ ...four, resolve6: failing }).names.resolve('a.example')), ['192.0.2.1'])
  await assert.rejects(namesWith({ resolve4: failing, resolve6: failing }).names.resolve('a.example'), /ENODATA/)
})

test('a name that is being resolved is asked for once, and of many names only so many', async () => {
  const asked: string[] = []
  const { promise, resolve } = Promise.withResolvers<readonly string[]>()
  const slow = async (name: string) => {
    asked.push(name)
    return promise
  }
  const { names } = namesWith({ resolve4: slow })
  const first = [names.resolve('n0.example'), names.resolve('n0.example')]
  const others = Array.from({ length: 63 }, (_, index) => names.resolve(`n${index + 1}.example`))
  await assert.rejects(names.resolve('beyond.example'), /too many names/)
  resolve(['192.0.2.1'])
  await Promise.all([...first, ...others])
  assert.deepEqual([asked.length, asked[0]], [64, 'n0.example'])
  assert.deepEqual(texts(await names.resolve('beyond.example')), ['192.0.2.1'])
})

test('names whose server is silent do not hold the resolver that the rest of the process uses', async context => {
  const silent = createSocket('udp4')
  silent.bind(0, '127.0.0.1')
  await once(silent, 'listening')
  context.after(() => silent.close())
  const resolver = new Resolver({ timeout: 30_000, tries: 1 })
  resolver.setServers([`127.0.0.1:${silent.address().port}`])
  const names = new Names({ server: resolver, hosts: async () => HOSTS, monotonicMs: () => 0 })
  const waiting = Array.from({ length: 64 }, (_, index) => names.resolve(`silent${index}.example`))
  // More than the process has threads: each would wait for one that a silent name holds.
  const found = await Promise.all(Array.from({ length: 8 }, () => lookup('localhost')))
  assert.equal(found.length, 8)
  resolver.cancel()
  for (const { status } of await Promise.allSettled(waiting)) assert.equal(status, 'rejected')
})
