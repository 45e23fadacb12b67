// Operators' commands while a service runs, which then does them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { clock, connect, createUsers, directory, embedded } from '../admin/support.ts'
import { installed, operatorCommands } from './commands.ts'
import { cli } from './terminal.ts'

operatorCommands(true)

test('a credential that cannot be opened makes keys rotate exit with 1 and name the connection', async context => {
  const { env, store, keys } = await installed(context, true)
  assert.ok(store !== null && keys !== null)
  const [user] = await createUsers(store, 1)
  assert.ok(user !== undefined)
  const connection = await connect(store, new EnvelopeVault(keys.ring), user)
  await store.connections.replaceCredentials(connection.connectionId, 1, { sealed: Buffer.from('damaged'), revision: 2 })
  const rotated = await cli(env, 'keys', 'rotate')
  assert.equal(rotated.code, 1)
  assert.ok(rotated.err.includes(connection.connectionId))
  const status = await cli(env, 'keys', 'status')
  assert.match(status.out, /1 stored value is damaged/)
})

test('a redirect address that could be abused is refused before anything is stored', async context => {
  const { env } = await installed(context, true)
  for (const url of [
    'http://a.example',
    'javascript:alert(1)',
    '//a.example',
    'https://a.example/#x',
    'https://A.example',
    'https://u:p@a.example'
  ]) {
    const { code, err } = await cli(env, 'platform', 'create', '--claim', 'off', '--name', 'X', '--redirect', url)
    assert.equal(code, 1, url)
    assert.match(err, /redirect 1 must/)
  }
  assert.match((await cli(env, 'platform', 'list')).out, /no platform yet/)
})

test('text from outside in the audit log cannot control the operator’s terminal', async context => {
  const { env, store } = await installed(context, true)
  assert.ok(store !== null)
  const hostile = 'x\u001b[2J\r\nforged\u009b31m\u202e'
  await store.audit.append({
    at: clock.now(),
    actor: 'service',
    action: 'user.create',
    target: hostile,
    result: 'ok',
    ip: null,
    requestId: hostile,
    detail: { name: hostile }
  })
  const { out } = await cli(env, 'audit', 'list')
  const deceptive = [...out.replaceAll('\n', '')].filter(character => /\p{Cc}|\p{Cf}/u.test(character))
  assert.deepEqual(deceptive, [])
  assert.equal(out.trimEnd().split('\n').length, 2)
})

test('an error names the service that holds the database and cannot be asked', async context => {
  const dataDir = directory(context)
  await embedded(context, dataDir)
  const { code, err } = await cli({ TRUNKLINE_DATA_DIR: dataDir }, 'platform', 'list')
  assert.equal(code, 1)
  assert.match(err, /belongs to process \d+/)
})
