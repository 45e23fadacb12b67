import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { serveText } from '../../src/ops/static-text.ts'

const TEXT = 'All the same for everybody. '.repeat(200)

async function ask(headers: Readonly<Record<string, string>>, text = TEXT) {
  const app = Fastify()
  let count = 0
  const make = () => {
    count += 1
    return text
  }
  serveText(app, '/text', make, () => ({ 'content-type': 'text/plain; charset=utf-8' }))
  await app.inject('/text')
  const answer = await app.inject({ url: '/text', headers })
  assert.equal(count, 1, 'it is made once')
  return answer
}

test('a text is sent in the best accepted encoding, with a vary header', async () => {
  const cases = [
    ['', undefined],
    ['identity', undefined],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['BR;q=0.000,gzip;q=0', undefined]
  ] as const
  for (const [accepted, encoding] of cases) {
    const { headers, rawPayload } = await ask({ 'accept-encoding': accepted })
    assert.equal(headers['content-encoding'], encoding, accepted)
    assert.equal(headers.vary, 'accept-encoding')
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
    const text = encoding === 'br' ? brotliDecompressSync(rawPayload) : encoding === 'gzip' ? gunzipSync(rawPayload) : rawPayload
    assert.equal(text.toString(), TEXT)
    if (encoding !== undefined) assert.ok(rawPayload.length < TEXT.length / 10)
  }
  assert.equal((await ask({ 'accept-encoding': 'br' }, 'short')).headers['content-encoding'], undefined, 'a short one is not worth it')
})

test('a client that has the current text receives 304; each encoding has its own etag', async () => {
  const { etag } = (await ask({ 'accept-encoding': 'br' })).headers
  const { etag: plain } = (await ask({})).headers
  assert.notEqual(etag, plain)
  const again = await ask({ 'accept-encoding': 'br', 'if-none-match': `"other", W/${etag}` })
  assert.deepEqual([again.statusCode, again.rawPayload.length, again.headers.etag], [304, 0, etag])
  assert.ok(again.headers['cache-control'])
  assert.equal((await ask({ 'if-none-match': String(etag) })).statusCode, 200)
})
