// One table, read once, with every fault told at once and no secret repeated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspectSettings, readSettings, SettingsInvalid } from '../../src/config/setting.ts'
import { inspectEnvironment, SECRET_NAMES, SECRET_SETTINGS, SETTINGS, secretValuesOf, settingsOf } from '../../src/config/settings.ts'

test('every setting has a name of its own, a default that is valid, a group and a description', () => {
  const rows = Object.values(SETTINGS)
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
  assert.deepEqual(settings.brokers, ['SANDBOX'])
})

test('blank counts as absent, and space around a value does not count', () => {
  assert.equal(settingsOf({ TRUNKLINE_PORT: '  ' }).port, 8_080)
  assert.equal(settingsOf({ TRUNKLINE_PORT: ' 9000\n' }).port, 9_000)
})

test('all faults are told at once, each with what was expected and found', () => {
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
  assert.throws(() => readSettings(table, {}), SettingsInvalid)
})

test('values of each kind', () => {
  const good: readonly (readonly [string, string])[] = [
    ['TRUNKLINE_PORT', '0'],
    ['TRUNKLINE_PORT', '65535'],
    ['TRUNKLINE_METRICS_PORT', ''],
    ['TRUNKLINE_PUBLIC_URL', 'https://api.example.com'],
    ['TRUNKLINE_PUBLIC_URL', 'https://api.example.com/'],
    ['TRUNKLINE_TRUSTED_PROXIES', '10.0.0.0/8, ::1,fd00::/8,loopback,uniquelocal'],
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
    ['TRUNKLINE_TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['TRUNKLINE_DATABASE_URL', 'db.example.com'],
    ['TRUNKLINE_BROKERS', 'SANDBOX,SANDBOX'],
    ['TRUNKLINE_DOCS', 'yes']
  ]
  for (const [name, value] of bad) assert.throws(() => settingsOf({ [name]: value }), SettingsInvalid, `${name}=${value}`)
})

test('what is secret is known by all its names, and its values are told apart for the log', () => {
  assert.deepEqual([...SECRET_SETTINGS].sort(), ['TRUNKLINE_DATABASE_URL', 'TRUNKLINE_MASTER_KEYS', 'TRUNKLINE_SANDBOX_CLIENT_SECRET'])
  for (const name of ['databaseUrl', 'TRUNKLINE_DATABASE_URL', 'masterKeys', 'sandboxClientSecret']) assert.ok(SECRET_NAMES.includes(name))
  const values = secretValuesOf(settingsOf({ TRUNKLINE_DATABASE_URL: 'postgres://a:b%40c@d/e', TRUNKLINE_MASTER_KEYS: 'k2:AAA,k1:BBB' }))
  for (const value of ['b%40c', 'b@c', 'postgres://a:b%40c@d/e', 'AAA', 'BBB']) assert.ok(values.includes(value), value)
  assert.deepEqual(secretValuesOf(settingsOf({})), [])
})
