// Bad input, as a table: each case is answered as specified, nothing is stored, nothing secret is logged, and the service stays up.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Api, type Body, type User } from './api.ts'
import { cancelCases } from './bad-cancel-cases.ts'
import {
  CANARY,
  type Case,
  changeCases,
  connectionCases,
  orderCases,
  orderOfChecks,
  pathCases,
  queryCases,
  textCases,
  userCases,
  type World
} from './bad-input-cases.ts'
import { marketReadCases } from './bad-market-read-cases.ts'
import { previewCases } from './bad-preview-cases.ts'
import { type RunningService, startService } from './harness.ts'
import { link } from './linking.ts'

// What is refused does not depend on the database.
for (const engine of ['postgres'] as const) {
  describe(`bad input (${engine})`, () => {
    let service: RunningService
    let api: Api
    let ada: User
    let world: World
    let known: Body
    before(async () => {
      service = await startService(engine, { TRUNKLINE_LOG_LEVEL: 'debug' })
      api = await Api.of(service)
      ada = await api.user('ada')
      const connectionId = await link(api, ada)
      const accounts = await api.call('GET', '/accounts', { headers: api.as(ada) })
      known = (await api.call('GET', '/users', { headers: api.platform })).body.data
      world = { connectionId, accountId: accounts.body[0].account_id }
    })
    after(() => service[Symbol.asyncDispose]())

    const groups: readonly (readonly [string, (world: World) => readonly Case[], atLeast: number])[] = [
      ['orders, field by field [S32, S38, S42]', orderCases, 80],
      ['previews, field by field', previewCases, 70],
      ['bodies [S34]', textCases, 26],
      ['queries', queryCases, 60],
      ['paths [S35]', pathCases, 24],
      ['changes of orders', changeCases, 5],
      ['cancelling all', cancelCases, 14],
      ['reads of a market', marketReadCases, 12],
      ['connections', connectionCases, 50],
      ['users', userCases, 14],
      ['the order of the checks', orderOfChecks, 7]
    ]
    for (const [name, casesOf, atLeast] of groups) {
      test(name, async t => {
        const cases = casesOf(world)
        assert.ok(cases.length >= atLeast)
        for (const one of cases) await t.test(one.what, () => judge(one))
      })
    }

    async function judge({ request: [method, address], body, headers = {}, as = 'user', status, names }: Case): Promise<void> {
      const credentials = as === 'user' ? api.as(ada) : as === 'platform' ? api.platform : {}
      const answer = await api.call(method, address, { headers: { ...credentials, ...headers }, ...(body !== undefined && { body }) })
      assert.equal(answer.status, status, answer.text)
      const paths = (answer.body.details ?? []).map(({ path }: Body) => path)
      if (names !== undefined) assert.ok(paths.includes(names) || answer.body.message.includes(names), answer.text)
      assert.equal(answer.headers.get('location'), null)
    }

    test('nothing of it was stored', async () => {
      const { body: orders } = await api.call('GET', '/orders?limit=500', { headers: api.as(ada) })
      assert.deepEqual(orders.data, [])
      const { body: users } = await api.call('GET', '/users', { headers: api.platform })
      assert.deepEqual(users.data, known)
      const { body: connections } = await api.call('GET', '/connections', { headers: api.as(ada) })
      assert.deepEqual(
        connections.map((row: Body) => row.connection_id),
        [world.connectionId]
      )
    })

    test('nothing secret or sent was logged, each line is one record, and the service is up [S70]', () => {
      const lines = service
        .output()
        .split('\n')
        .filter(line => line.startsWith('{"level"'))
      assert.ok(lines.length > 250)
      for (const secret of [api.service.demo.client_secret, ada.secret, CANARY, 'evil.example', 'etc/passwd', 'drop table']) {
        assert.deepEqual(
          lines.filter(line => line.includes(secret)),
          [],
          secret
        )
      }
      for (const line of lines) assert.ok(JSON.parse(line).level < 50, line)
      assert.ok(service.isRunning())
    })
  })
}
