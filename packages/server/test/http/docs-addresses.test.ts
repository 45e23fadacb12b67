// Addresses of the documentation that are nearly right, and those that are none.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import Fastify from 'fastify'
import { serveDocs } from '../../src/http/docs/index.ts'

describe('an address of the documentation', () => {
  const app = Fastify()
  serveDocs(app, () => 'http://127.0.0.1:8080')
  after(() => app.close())
  const get = (url: string) => app.inject({ url, headers: { accept: 'text/html' } })

  for (const path of ['/docs', '/docs/guides', '/docs/guides/start', '/docs/errors/internal', '/docs/live']) {
    test(`with a slash at its end leads to the one without: ${path}`, async () => {
      assert.equal((await get(path)).statusCode, 200)
      const { statusCode, headers } = await get(`${path}//?a=b`)
      assert.deepEqual([statusCode, headers.location], [308, path])
    })
  }

  test('that there is not is a page with the styles and the search of the others, and nothing of the request', async () => {
    for (const path of ['/docs/nothing', '/docs/nothing/', '/docs//evil.example/', '/docs/guides/<b>']) {
      const { statusCode, headers, body } = await get(path)
      assert.equal(statusCode, 404, path)
      assert.match(String(headers['content-security-policy']), /default-src 'none'/)
      assert.match(body, /<link rel="stylesheet" href="\/docs\/style\.css">[\s\S]*There is nothing at this address/)
      assert.doesNotMatch(body, /nothing\/|evil|<b>/)
    }
  })
})
