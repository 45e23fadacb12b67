// The registry lists every broker, and each goes where its settings say.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { ADAPTERS, type Adapter, openBrokers, SettingMissing } from '../src/registry.ts'
import { systemClock } from './support/clocks.ts'
import { MemoryLog } from './support/log.ts'
import { MemoryMeter } from './support/meter.ts'

const DEPS = { clock: systemClock, fraction: () => 0.5, log: new MemoryLog(), meter: new MemoryMeter() }
const SANDBOX_ACCESS = {
  url: 'http://sandbox:8090',
  publicUrl: 'https://sandbox.example.com',
  clientId: 'us',
  clientSecret: 'secret',
  hours: 'always'
} as const

/** The texts of the environment as the server gives them: what is left out has its default. */
const set =
  ({ settings }: Adapter, env: Readonly<Record<string, string>>) =>
  (name: string) =>
    env[name] ?? settings.find(setting => setting.env === name)?.fallback ?? assert.fail(`${name} is not in the table`)
const offered = (adapter: Adapter, env: Readonly<Record<string, string>> = {}) => adapter.offer(set(adapter, env))

test('with nothing set every broker is the sandbox, under its own name', async () => {
  const offers = ADAPTERS.map(adapter => offered(adapter))
  await using all = openBrokers(offers, DEPS, SANDBOX_ACCESS)
  assert.deepEqual(
    [...all.keys()],
    ADAPTERS.map(({ capabilities }) => capabilities.id)
  )
  for (const [id, { capabilities, environment, host, login }] of all) {
    assert.equal(capabilities.id, id)
    assert.deepEqual([environment, host], ['sandbox', 'local'])
    assert.ok(login.kind === 'oauth')
    assert.equal(login.origin, SANDBOX_ACCESS.publicUrl, 'the login page is where browsers see it, not where we reach it')
    const begun = await login.begin({ redirectUri: 'https://us.example/connect/callback', state: 's', trading: false })
    assert.ok(begun.authorizationUrl.startsWith(`${SANDBOX_ACCESS.publicUrl}/`))
  }
})

test('a sandbox brokerage that runs elsewhere goes by its host', async () => {
  await using all = openBrokers(
    ADAPTERS.map(adapter => offered(adapter)),
    DEPS,
    { ...SANDBOX_ACCESS, host: 'sandbox:8090' }
  )
  assert.deepEqual([...new Set([...all.values()].map(({ host }) => host))], ['sandbox:8090'])
})

test('what is not offered is not opened, and what needs the sandbox brokerage says so', async () => {
  await using none = openBrokers([], DEPS, null)
  assert.equal(none.size, 0)
  for (const adapter of ADAPTERS) assert.throws(() => openBrokers([offered(adapter)], DEPS, null), /sandbox brokerage, and there is none/)
})

test('with its own client a broker is reached itself, in the requested environment', async () => {
  for (const adapter of ADAPTERS.filter(({ settings }) => settings.length > 0)) {
    const { id } = adapter.capabilities
    const client = { [`TRUNKLINE_${id}_CLIENT_ID`]: 'us', [`TRUNKLINE_${id}_CLIENT_SECRET`]: 'secret' }
    const environments = adapter.settings.find(({ env }) => env === `TRUNKLINE_${id}_ENV`)?.allowed ?? []
    assert.equal(environments[0], 'live', 'live is the default')
    for (const value of environments) {
      await using all = openBrokers([offered(adapter, { ...client, [`TRUNKLINE_${id}_ENV`]: value })], DEPS, null)
      const [definition] = all.values()
      assert.equal(definition?.environment, value === 'live' ? 'live' : 'paper', `${id} ${value}`)
      const offer = offered(adapter, { ...client, [`TRUNKLINE_${id}_ENV`]: value })
      assert.ok(offer.at === 'broker')
      assert.equal(definition?.host, new URL(offer.ordersUrl).host, 'connections are bound to the host that orders go to')
      assert.ok(definition?.login.kind === 'oauth' && definition.login.origin.startsWith('https://'))
    }
  }
})

test('an environment of the broker’s without a client there is a fault: no user trades on paper in the sandbox unawares', () => {
  for (const adapter of ADAPTERS.filter(({ settings }) => settings.length > 0)) {
    const { id } = adapter.capabilities
    const [client, environment] = [`TRUNKLINE_${id}_CLIENT_ID`, `TRUNKLINE_${id}_ENV`]
    const other = adapter.settings.find(({ env }) => env === environment)?.allowed?.[1] ?? ''
    const fault = (cause: unknown) =>
      cause instanceof SettingMissing && cause.env === client && cause.message.includes(`because ${environment} is ${other}`)
    assert.throws(() => offered(adapter, { [environment]: other }), fault, id)
    assert.equal(offered(adapter, { [environment]: 'live' }).at, 'sandbox')
  }
})

test('half a client is a fault that names the other half', () => {
  for (const adapter of ADAPTERS.filter(({ settings }) => settings.length > 0)) {
    const { id } = adapter.capabilities
    const [known, secret] = [`TRUNKLINE_${id}_CLIENT_ID`, `TRUNKLINE_${id}_CLIENT_SECRET`]
    for (const [given, missing] of [
      [known, secret],
      [secret, known]
    ] as const) {
      const fault = (cause: unknown) => cause instanceof SettingMissing && cause.env === missing && cause.message.includes(given)
      assert.throws(() => offered(adapter, { [given]: 'x' }), fault, `${id}: ${given} alone`)
    }
  }
})

test('a table’s variables are the broker’s own, each once, described, with a default that they take', () => {
  const names = ADAPTERS.flatMap(({ capabilities, settings }) =>
    settings.map(({ env, about, fallback, allowed, secret }) => {
      assert.ok(env.startsWith(`TRUNKLINE_${capabilities.id}_`), env)
      assert.match(about, /^\S.{10,}\.$/, env)
      assert.ok(allowed === undefined || allowed.includes(fallback), env)
      assert.equal(secret === true, /SECRET|PASSWORD|TOKEN/.test(env), env)
      return env
    })
  )
  assert.equal(new Set(names).size, names.length)
})

test('every broker folder is in the registry', () => {
  const folders = readdirSync(new URL('../src/', import.meta.url), { withFileTypes: true }).filter(
    entry => entry.isDirectory() && entry.name !== 'kit'
  )
  assert.deepEqual(
    new Set(folders.map(entry => entry.name.toUpperCase())),
    new Set(ADAPTERS.map(({ capabilities }) => String(capabilities.id)))
  )
})
