// One table, read once, with every fault reported at once and no secret repeated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KNOWN_BROKERS } from '../../src/config/broker-settings.ts'
import { inspectSettings, SettingsInvalid } from '../../src/config/setting.ts'
import { ALL_SETTINGS, inspectEnvironment, SECRET_NAMES, SECRET_SETTINGS, secretValuesOf, settingsOf } from '../../src/config/settings.ts'

test('every setting has a name of its own, a default that is valid, a group and a description', () => {
  const rows = Object.values(ALL_SETTINGS)
  assert.equal(new Set(rows.map(({ env }) => env)).size, rows.length)
  for (const row of rows) {
    assert.match(row.env, /^TRUNKLINE_[A-Z0-9_]+$/)
    assert.doesNotThrow(() => row.parse(row.fallback), row.env)
    assert.match(row.about, /^\S.{10,}\.$/, row.env)
    assert.match(row.group, /^[A-Z]/)
  }
})

test('nothing set gives a service for this machine alone', () => {
  const settings = settingsOf({})
  assert.equal(settings.host, '127.0.0.1')
  assert.equal(settings.port, 8_080)
  assert.equal(settings.databaseUrl, null)
  assert.equal(settings.unsafeDurability, false)
  assert.deepEqual(settings.brokers, KNOWN_BROKERS)
  assert.deepEqual(
    settings.offers.map(({ id, at }) => [id, at]),
    KNOWN_BROKERS.map(id => [id, 'sandbox']),
    'the sandbox brokerage stands in for every broker'
  )
})

test('blank counts as absent, and space around a value does not count', () => {
  assert.equal(settingsOf({ TRUNKLINE_PORT: '  ' }).port, 8_080)
  assert.equal(settingsOf({ TRUNKLINE_PORT: ' 9000\n' }).port, 9_000)
})

test('all faults are reported at once, each with what was expected and found', () => {
  const env = { TRUNKLINE_PORT: '80x', TRUNKLINE_LOG_LEVEL: 'loud', TRUNKLINE_TRUSTED_PROXIES: '10.0.0.0/40', TRUNKLINE_BROKERS: 'a,b' }
  assert.throws(
    () => settingsOf(env),
    error => {
      assert.ok(error instanceof SettingsInvalid)
      assert.deepEqual(error.faults.map(({ env: name }) => name).sort(), Object.keys(env).sort())
      assert.match(error.message, /TRUNKLINE_PORT must be a whole number from 0 to 65535, was "80x"/)
      return true
    }
  )
  const { values, faults } = inspectEnvironment(env)
  assert.equal(faults.length, 4)
  assert.equal(values.port, undefined)
  assert.equal(values.host, '127.0.0.1')
})

test('a fault of a secret setting does not repeat it', () => {
  assert.throws(
    () => settingsOf({ TRUNKLINE_DATABASE_URL: 'mysql://app:canary@db' }),
    error => error instanceof SettingsInvalid && error.message.includes('TRUNKLINE_DATABASE_URL') && !error.message.includes('canary')
  )
})

test('a value that was found is shown on one line and cut to length', () => {
  const table = { a: { env: 'A', group: 'G', parse: () => assert.fail('a word'), fallback: '', about: 'A.' } }
  const [fault] = inspectSettings(table, { A: `x\n${'y'.repeat(500)}` }).faults
  assert.ok((fault?.message.length ?? 0) < 150)
  assert.ok(!fault?.message.includes('\n'))
  assert.equal(inspectSettings(table, {}).faults.length, 1)
})

test('values of each kind', () => {
  const good: readonly (readonly [string, string])[] = [
    ['TRUNKLINE_PORT', '0'],
    ['TRUNKLINE_PORT', '65535'],
    ['TRUNKLINE_METRICS_PORT', ''],
    ['TRUNKLINE_METRICS_TOKEN', 'sixteen-letters!'],
    ['TRUNKLINE_PUBLIC_URL', 'https://api.example.com'],
    ['TRUNKLINE_PUBLIC_URL', 'https://api.example.com/'],
    ['TRUNKLINE_TRUSTED_PROXIES', '10.0.0.0/8, ::1,fd00::/8,loopback,uniquelocal'],
    ['TRUNKLINE_WEBHOOK_NETWORKS', '10.0.0.0/8, ::1,fd00::/8'],
    ['TRUNKLINE_DATABASE_URL', 'postgresql://db/x'],
    ['TRUNKLINE_BROKERS', 'SANDBOX, ALPACA'],
    ['TRUNKLINE_DOCS', '0']
  ]
  for (const [name, value] of good) assert.doesNotThrow(() => settingsOf({ [name]: value }), `${name}=${value}`)
  const bad: readonly (readonly [string, string])[] = [
    ['TRUNKLINE_PORT', '65536'],
    ['TRUNKLINE_PORT', '-1'],
    ['TRUNKLINE_PORT', '1e3'],
    ['TRUNKLINE_PUBLIC_URL', 'api.example.com'],
    ['TRUNKLINE_PUBLIC_URL', 'https://api.example.com/v1'],
    ['TRUNKLINE_PUBLIC_URL', 'ftp://api.example.com'],
    ['TRUNKLINE_TRUSTED_PROXIES', 'proxy.example.com'],
    ['TRUNKLINE_WEBHOOK_NETWORKS', 'loopback'],
    ['TRUNKLINE_WEBHOOK_NETWORKS', '10.0.0.0/33'],
    ['TRUNKLINE_WEBHOOK_NETWORKS', 'fe80::1%eth0'],
    ['TRUNKLINE_TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUNKLINE_DATABASE_URL', 'db.example.com'],
    ['TRUNKLINE_BROKERS', 'SANDBOX,SANDBOX'],
    ['TRUNKLINE_METRICS_TOKEN', 'short'],
    ['TRUNKLINE_METRICS_TOKEN', 'with a space inside it'],
    ['TRUNKLINE_DOCS', 'yes']
  ]
  for (const [name, value] of bad) assert.throws(() => settingsOf({ [name]: value }), SettingsInvalid, `${name}=${value}`)
})

test('what is set about a broker decides where it goes, in the order in which brokers are named', () => {
  const client = { TRUNKLINE_ALPACA_CLIENT_ID: 'us', TRUNKLINE_ALPACA_CLIENT_SECRET: 'canary' }
  const offered = (env: Readonly<Record<string, string>>) => settingsOf(env).offers.map(({ id, at }) => `${id} ${at}`)
  assert.deepEqual(offered({ ...client, TRUNKLINE_BROKERS: 'TRADIER, ALPACA,SANDBOX' }), [
    'TRADIER sandbox',
    'ALPACA broker',
    'SANDBOX sandbox'
  ])
  assert.deepEqual(offered({ TRUNKLINE_BROKERS: 'ALPACA', TRUNKLINE_ALPACA_API_KEYS: '1' }), ['ALPACA broker'])
  assert.deepEqual(offered({ TRUNKLINE_BROKERS: 'ALPACA', TRUNKLINE_ALPACA_API_KEYS: 'sandbox' }), ['ALPACA sandbox'])
  assert.deepEqual(offered({ ...client, TRUNKLINE_BROKERS: 'SANDBOX' }), ['SANDBOX sandbox'])
  for (const word of ['1', 'sandbox'])
    assert.throws(() => offered({ ...client, TRUNKLINE_ALPACA_API_KEYS: word }), /TRUNKLINE_ALPACA_API_KEYS must be left out/)
})

test('an offer says which accounts of the broker it is for, and where their orders go', () => {
  const ids = ['ALPACA', 'TRADIER', 'TRADESTATION']
  const clients = Object.fromEntries(
    ids.flatMap(id => [
      [`TRUNKLINE_${id}_CLIENT_ID`, 'us'],
      [`TRUNKLINE_${id}_CLIENT_SECRET`, 'canary']
    ])
  )
  const targets = (env: Readonly<Record<string, string>>) =>
    settingsOf({ ...clients, TRUNKLINE_BROKERS: ids.join(), ...env }).offers.map(offer =>
      offer.at === 'sandbox' ? offer.at : `${offer.environment} ${offer.ordersUrl}`
    )
  assert.deepEqual(targets({}), [
    'live https://api.alpaca.markets',
    'live https://api.tradier.com/v1',
    'live https://api.tradestation.com/v3'
  ])
  const practice = { TRUNKLINE_ALPACA_ENV: 'paper', TRUNKLINE_TRADIER_ENV: 'sandbox', TRUNKLINE_TRADESTATION_ENV: 'sim' }
  assert.deepEqual(targets(practice), [
    'paper https://paper-api.alpaca.markets',
    'paper https://sandbox.tradier.com/v1',
    'paper https://sim-api.tradestation.com/v3'
  ])
})

test('faults of brokers are reported with the others, whether they are offered or not, and without a secret', () => {
  const env = {
    TRUNKLINE_PORT: 'x',
    TRUNKLINE_BROKERS: 'SANDBOX,NOBODY',
    TRUNKLINE_ALPACA_CLIENT_ID: 'us',
    TRUNKLINE_ALPACA_ENV: 'test',
    TRUNKLINE_TRADIER_CLIENT_SECRET: 'canary',
    TRUNKLINE_TRADESTATION_ENV: 'paper'
  }
  assert.throws(
    () => settingsOf(env),
    error => {
      assert.ok(error instanceof SettingsInvalid)
      const messages = error.message.split('\n').slice(1)
      const expected = [
        /^ +TRUNKLINE_PORT must be a whole number/,
        /^ +TRUNKLINE_ALPACA_ENV must be one of live, paper, was "test"$/,
        /^ +TRUNKLINE_TRADESTATION_ENV must be one of live, sim, was "paper"$/,
        /^ +TRUNKLINE_BROKERS names NOBODY, which is not known here; there are SANDBOX, /,
        /^ +TRUNKLINE_ALPACA_CLIENT_SECRET must be set, because TRUNKLINE_ALPACA_CLIENT_ID is$/,
        /^ +TRUNKLINE_TRADIER_CLIENT_ID must be set, because TRUNKLINE_TRADIER_CLIENT_SECRET is$/
      ]
      assert.equal(messages.length, expected.length, error.message)
      for (const pattern of expected)
        assert.ok(
          messages.some(line => pattern.test(line)),
          `${pattern}\n${error.message}`
        )
      assert.ok(!error.message.includes('canary'))
      return true
    }
  )
})

test('what is secret is known by all its names, and its values are separated for the log', () => {
  assert.deepEqual([...SECRET_SETTINGS].sort(), [
    'TRUNKLINE_ALPACA_CLIENT_SECRET',
    'TRUNKLINE_DATABASE_OWNER_URL',
    'TRUNKLINE_DATABASE_URL',
    'TRUNKLINE_MASTER_KEYS',
    'TRUNKLINE_METRICS_TOKEN',
    'TRUNKLINE_NATS_URL',
    'TRUNKLINE_OIDC_CLIENT_SECRET',
    'TRUNKLINE_SANDBOX_CLIENT_SECRET',
    'TRUNKLINE_TRADESTATION_CLIENT_SECRET',
    'TRUNKLINE_TRADIER_CLIENT_SECRET'
  ])
  for (const name of ['databaseUrl', 'TRUNKLINE_DATABASE_URL', 'masterKeys', 'sandboxClientSecret']) assert.ok(SECRET_NAMES.includes(name))
  const values = secretValuesOf(settingsOf({ TRUNKLINE_DATABASE_URL: 'postgres://a:b%40c@d/e', TRUNKLINE_MASTER_KEYS: 'k2:AAA,k1:BBB' }))
  for (const value of ['b%40c', 'b@c', 'postgres://a:b%40c@d/e', 'AAA', 'BBB']) assert.ok(values.includes(value), value)
  const ofNats = (url: string) => secretValuesOf(settingsOf({ TRUNKLINE_NATS_URL: url, TRUNKLINE_DATABASE_URL: 'postgres://d/e' }))
  for (const value of ['b%40c', 'b@c']) assert.ok(ofNats('nats://a:b%40c@d:1,nats://a:b%40c@e').includes(value), value)
  assert.ok(ofNats('tls://a-token@d').includes('a-token'))
  const client = { TRUNKLINE_TRADIER_CLIENT_ID: 'public', TRUNKLINE_TRADIER_CLIENT_SECRET: 'canary' }
  assert.deepEqual(secretValuesOf(settingsOf(client)), ['canary', 'canary'])
  assert.deepEqual(secretValuesOf(settingsOf({})), [])
})

test('nodes need a database that they share', () => {
  const nats = { TRUNKLINE_NATS_URL: 'nats://h:4222' }
  assert.throws(() => settingsOf(nats), /TRUNKLINE_NATS_URL needs TRUNKLINE_DATABASE_URL.*or leave this out to run alone/)
  assert.equal(settingsOf({ ...nats, TRUNKLINE_DATABASE_URL: 'postgres://d/e' }).natsUrl, 'nats://h:4222')
  // A database that could not be read has its own fault only.
  const { faults } = inspectEnvironment({ ...nats, TRUNKLINE_DATABASE_URL: 'mysql://d/e' })
  assert.deepEqual(
    faults.map(({ env }) => env),
    ['TRUNKLINE_DATABASE_URL']
  )
})

test('in a cluster an order must not count as never received while a node may still send it', () => {
  const alone = { TRUNKLINE_COMMAND_MS: '2000', TRUNKLINE_ABSENCE_SECONDS: '2' }
  assert.equal(settingsOf(alone).absenceSeconds, 2)
  const shared = { TRUNKLINE_NATS_URL: 'nats://h:4222', TRUNKLINE_DATABASE_URL: 'postgres://d/e' }
  const both = /TRUNKLINE_ABSENCE_SECONDS must be longer than TRUNKLINE_COMMAND_MS.*2 s and 2000 ms/
  assert.throws(() => settingsOf({ ...shared, ...alone }), both)
  assert.equal(settingsOf({ ...shared, ...alone, TRUNKLINE_COMMAND_MS: '1999' }).commandMs, 1_999)
  // What could not be read has its own fault only.
  const { faults } = inspectEnvironment({ ...shared, ...alone, TRUNKLINE_COMMAND_MS: 'soon' })
  assert.deepEqual(
    faults.map(({ env }) => env),
    ['TRUNKLINE_COMMAND_MS']
  )
})
