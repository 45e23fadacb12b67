import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { type BrokerSettings, brokers } from '../src/registry.ts'
import { systemClock } from './support/clocks.ts'
import { MemoryLog } from './support/log.ts'
import { MemoryMeter } from './support/meter.ts'

const DEPS = { clock: systemClock, fraction: () => 0.5, log: new MemoryLog(), meter: new MemoryMeter() }
const ALL: BrokerSettings = { ...DEPS, sandbox: { baseUrl: 'http://127.0.0.1:1', clientId: 'us', clientSecret: 'secret' } }

test('a broker without settings is not offered', async () => {
  await using none = brokers(DEPS)
  assert.equal(none.size, 0)
  await using all = brokers(ALL)
  assert.deepEqual([...all.keys()], ['SANDBOX'])
  for (const [id, definition] of all) assert.equal(definition.capabilities.id, id)
})

test('every broker folder is in the registry', async () => {
  await using all = brokers(ALL)
  const folders = readdirSync(new URL('../src/', import.meta.url), { withFileTypes: true }).filter(
    entry => entry.isDirectory() && entry.name !== 'kit'
  )
  assert.deepEqual(new Set(folders.map(entry => entry.name.toUpperCase())), new Set(all.keys()))
})

test('the login page is where browsers see it, not where we reach it', async () => {
  await using all = brokers({
    ...DEPS,
    sandbox: { baseUrl: 'http://sandbox:8090', publicUrl: 'https://sandbox.example.com', clientId: 'us', clientSecret: 'x' }
  })
  const [sandbox] = all.values()
  assert.ok(sandbox?.login.kind === 'oauth')
  const begun = await sandbox.login.begin({ redirectUri: 'https://us.example/connect/callback', state: 's', trading: false })
  assert.equal(sandbox.login.origin, 'https://sandbox.example.com')
  assert.ok(begun?.authorizationUrl.startsWith('https://sandbox.example.com/oauth/auth?'))
})
