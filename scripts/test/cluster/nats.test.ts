// The NATS server of the cluster: found or asked for, with a password that only its owner can read.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findNatsServer, NATS_VARIABLE } from '@trunkline/testkit/nats/program'
import { until } from '@trunkline/testkit/until'
import { nats } from '../../cluster/nats.ts'
import { folderFor, freePort, stageOf } from './stage.ts'

test('without a server it says what to install', t => {
  const folder = folderFor(t)
  const env = { [NATS_VARIABLE]: join(folder, 'nowhere') }
  assert.throws(() => nats(folder, 4222, join(folder, 'log'), env), /no nats-server on the path.*apt-get install nats-server/)
})

test('its password is stored once, in private files, and in no argument', t => {
  const folder = folderFor(t)
  const made = nats(folder, 4222, join(folder, 'log'), process.env)
  assert.equal(made.program.command, findNatsServer())
  const { password } = new URL(made.url)
  assert.match(password, /^[0-9a-f]{36}$/)
  assert.ok(!made.program.args.join(' ').includes(password))
  const config = join(folder, 'nats.conf')
  assert.ok(readFileSync(config, 'utf8').includes(`password: "${password}"`))
  for (const file of [config, join(folder, 'nats-password')]) assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(nats(folder, 4222, join(folder, 'log'), process.env).url, made.url)
})

test('it starts with its configuration, and is ready once it greets', async t => {
  const folder = folderFor(t)
  const { program } = nats(folder, await freePort(), join(folder, 'log'), process.env)
  const { supervisor, lines } = stageOf(t, [[program]])
  await supervisor.startGroup(0)
  await supervisor.kill('nats')
  assert.equal(await program.isReady(0), false)
  await supervisor.start('nats')
  await until(() => lines.some(line => line.includes('NATS is ready')), 'it is ready again')
})
