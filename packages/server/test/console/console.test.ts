import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import Fastify from 'fastify'
import { serveConsole } from '../../src/console/console.ts'

async function served() {
  const app = Fastify()
  serveConsole(app, () => Object.assign(new Error('nothing here'), { statusCode: 404 }))
  await app.ready()
  return app
}

test('each address below /console/ is the same page, whose policy permits files of the service only', async () => {
  await using app = await served()
  const pages = await Promise.all(['/console', '/console/', '/console/orders/7', '/console/events?user=007'].map(url => app.inject(url)))
  for (const { statusCode, headers, body } of pages) {
    assert.equal(statusCode, 200)
    assert.equal(body, pages[0]?.body)
    assert.match(body, /<div id="console">/)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-cache')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|data:|\*|https?:/)
  }
})

test('the files that the page names are served compressed, and are kept for ever', async () => {
  await using app = await served()
  const { body } = await app.inject('/console/')
  const files = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  assert.ok(files.length >= 3)
  for (const file of files) {
    const { statusCode, headers, rawPayload } = await app.inject({ url: file, headers: { 'accept-encoding': 'br' } })
    assert.equal(statusCode, 200, file)
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.match(String(headers['content-type']), /^(text\/(javascript|css)|image\/svg\+xml); charset=utf-8$/)
    const text = headers['content-encoding'] === 'br' ? brotliDecompressSync(rawPayload) : rawPayload
    assert.ok(text.length > 0)
  }
})

test('a file that is not there is an error and not the page: it would be taken for a script', async () => {
  await using app = await served()
  for (const url of ['/console/assets/index-00000000.js', '/console/assets/', '/console/assets/../index.html'])
    assert.equal((await app.inject(url)).statusCode, url.endsWith('index.html') ? 200 : 404, url)
})

test('the licences of what is in it can be read', async () => {
  await using app = await served()
  const { statusCode, headers, body } = await app.inject('/console/licenses.md')
  assert.deepEqual([statusCode, headers['content-type']], [200, 'text/markdown; charset=utf-8'])
  assert.match(body, /^## react - /m)
})
