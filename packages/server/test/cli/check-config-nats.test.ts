// What check-config finds out about the NATS servers of a cluster.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { probeNats } from '../../src/bus/nats-probe.ts'
import { checkNats } from '../../src/cli/checks/nats.ts'
import { parseNatsServers } from '../../src/config/nats-servers.ts'
import { answerOf, cli } from './terminal.ts'

const found = async (natsUrl: string, files: { readonly natsCredentials?: string; readonly natsCa?: string } = {}) =>
  (await checkNats({ natsUrl, natsCredentials: null, natsCa: null, ...files })).map(
    ({ level, about, message }) => `${level} ${about} ${message}`
  )

test('check-config says whether each NATS server can be used, and without its password why not', async () => {
  await using server = await NatsServer.start(['--user', 'node', '--pass', 'canary-right'])
  const at = `127.0.0.1:${server.port}`
  assert.deepEqual(await found(`nats://node:canary-right@${at}`), [`ok TRUNKLINE_NATS_URL NATS at ${at} can be used`])
  const one = await found(`nats://node:canary-right@${at},nats://node:canary-right@127.0.0.1:9`)
  assert.match(one.join('\n'), /^ok .*\nwarning TRUNKLINE_NATS_URL NATS at 127\.0\.0\.1:9 cannot be reached: .*ECONNREFUSED.*Start it, or/)

  const [refused = ''] = await found(`nats://node:canary-wrong@${at}`)
  assert.match(refused, /^fault .* refuses the credentials: .*Correct the user and password/)
  assert.doesNotMatch(refused, /canary/)
  assert.match((await found(`tls://node:canary-right@localhost:${server.port}`)).join(), /^fault .* answers, but cannot be used: .*TLS/)
  const files = await found(`nats://${at}`, { natsCredentials: '/nowhere/creds', natsCa: '/nowhere/ca' })
  assert.match(files.join('\n'), /^fault TRUNKLINE_NATS_CREDENTIALS the file \/nowhere\/creds .*\nfault TRUNKLINE_NATS_CA the file /)
})

test('the command lists what it found about NATS', async () => {
  const env = { TRUNKLINE_NATS_URL: 'nats://127.0.0.1:9', TRUNKLINE_DATABASE_URL: 'postgres://127.0.0.1:9/x', TRUNKLINE_PORT: '0' }
  const checked = await cli({ ...env, TRUNKLINE_DATA_DIR: '/nowhere/at/all' }, 'check-config', '--json')
  assert.equal(checked.code, 1)
  const messages: readonly string[] = answerOf(checked).findings.map((finding: { message: string }) => finding.message)
  assert.ok(messages.some(message => message.startsWith('NATS at 127.0.0.1:9 cannot be reached')))
})

test('a server that says nothing, or something else, is given up', async context => {
  let greeting = ''
  const server = createServer(socket => void socket.on('error', () => undefined).write(greeting)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const at = `127.0.0.1:${address.port}`
  const why = async (ms: number) => {
    const failure = await probeNats({ servers: parseNatsServers(`nats://${at}`), credentialsFile: null, caFile: null }, at, ms)
    return `${failure?.at} ${failure?.cause}`
  }
  assert.equal(await why(50), 'address Error: no answer for 0.05 s')
  greeting = 'HTTP/1.1 400 Bad Request\r\n'
  assert.equal(await why(PATIENCE_MS), 'address Error: it is no NATS server')
})
