// The metrics' own port is this machine's: a name that a foreign page has led here reads nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metricsServer } from '../../src/ops/routes.ts'

test('the port of the metrics answers to names of the loopback interface only', async () => {
  let read = 0
  const server = metricsServer({ read: async () => ({ number: ++read, text: 'figures 1\n' }) })
  const status = async (host: string) => (await server.inject({ url: '/metrics', headers: { host } })).statusCode
  for (const host of ['127.0.0.1:9464', 'localhost:9464', '[::1]:9464', 'localhost', '127.0.0.1'])
    assert.equal(await status(host), 200, host)
  assert.equal(read, 5)
  const foreign = ['evil.example', 'evil.example:9464', 'localhost.evil.example:9464', '127.0.0.1.evil.example', '10.0.0.7:9464']
  for (const host of foreign) {
    const answer = await server.inject({ url: '/metrics', headers: { host } })
    assert.equal(answer.statusCode, 403, host)
    assert.ok(!answer.body.includes('figures'))
  }
  assert.equal(read, 5)
})
