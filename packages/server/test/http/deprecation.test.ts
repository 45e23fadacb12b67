// An operation that is to go says so: in every answer, in the reference and in the description for programs.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import Fastify from 'fastify'
import { deprecationHeaders } from '../../src/http/deprecation.ts'
import { openApi } from '../../src/http/docs/openapi.ts'
import { referencePage } from '../../src/http/docs/reference/page.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { ENDPOINTS } from '../../src/http/routes/index.ts'
import { answerFailures, serveEndpoints } from '../../src/http/serve.ts'

const URL = 'https://a.example'
const GOING = { since: '2026-11-24', until: '2027-11-24', instead: 'Use `GET /v2/orders`.' }
const GUIDE = new globalThis.URL('../../../../docs/guides/versions.md', import.meta.url)

describe('an operation that is to go', () => {
  const endpoint: Endpoint = { ...(ENDPOINTS.find(({ operationId }) => operationId === 'listOrders') ?? assert.fail()), deprecation: GOING }
  const headers = deprecationHeaders(GOING, 'listOrders', URL)

  test('has the headers that the guide promises', async () => {
    assert.deepEqual(headers, {
      deprecation: '@1795478400',
      sunset: 'Wed, 24 Nov 2027 00:00:00 GMT',
      link: '<https://a.example/docs#listOrders>; rel="deprecation"; type="text/html"'
    })
    const guide = await readFile(GUIDE, 'utf8')
    assert.ok(guide.includes(`deprecation: ${headers.deprecation}`) && guide.includes(`sunset: ${headers.sunset}`))
  })

  test('is served for a year at least, or nothing is', () => {
    for (const until of ['2027-11-23', '2026-11-24', 'later', '2027-11-24T00:00:00Z'])
      assert.throws(() => deprecationHeaders({ ...GOING, until }, 'listOrders', URL), RangeError, until)
  })

  test('says so in refusals, too, and no other operation does', async () => {
    const app = Fastify({ exposeHeadRoutes: false })
    answerFailures(app, Object({ log: { debug() {}, info() {}, warn() {}, error() {} } }))
    const refuse = async () => {
      throw new ServiceError('credentials_invalid', 'No.')
    }
    const deps = { guard: { provenUser: refuse, provenPlatform: refuse }, gate: {}, queue: {}, service: { publicUrl: () => URL } }
    const others = ENDPOINTS.filter(({ operationId }) => operationId !== 'listOrders')
    serveEndpoints(app, [endpoint, ...others], Object(deps), '')
    const refused = await app.inject({ url: '/orders' })
    assert.equal(refused.statusCode, 401)
    for (const [name, value] of Object.entries(headers)) assert.equal(refused.headers[name], value)
    const other = await app.inject({ url: '/accounts' })
    assert.deepEqual([other.statusCode, other.headers.deprecation, other.headers.sunset], [401, undefined, undefined])
    await app.close()
  })

  test('is marked in the reference and in openapi.json', () => {
    assert.match(
      referencePage([endpoint], URL),
      /<strong>Deprecated<\/strong> since 2026-11-24, and served until 2027-11-24 at least\. Use <code>GET \/v2\/orders<\/code>\./
    )
    const { get } = JSON.parse(JSON.stringify(openApi([endpoint], URL))).paths['/orders']
    assert.deepEqual([get.deprecated, get['x-sunset']], [true, '2027-11-24'])
    assert.ok(!JSON.stringify(openApi(ENDPOINTS, URL)).includes('"deprecated"'), 'nothing is deprecated now, as the guide says')
  })
})
