// The TypeScript client in a browser: the same bundle as everywhere, beside the service.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { minified } from '../../scripts/client/bundle.ts'
import { openStage, type Stage } from './stage.ts'

describe('the client in a browser', () => {
  let stage: Stage
  before(async () => {
    stage = await openStage()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('reads, and names the errors of the service', async () => {
    const { service, browser } = stage
    const { client_id: clientId, client_secret: clientSecret } = service.demo
    const { userId, secret } = await stage.user()
    const page = await browser.newPage()
    const bundle = await minified('{ Trunkline, TrunklineError }')
    const program = `
      import { Trunkline, TrunklineError } from './client.js'
      const given = ${JSON.stringify({ baseUrl: service.url, clientId, clientSecret, userId, userSecret: secret })}
      const user = new Trunkline(given).user(given)
      const { data, meta } = await user.accounts.list().withMeta()
      const error = await user.orders.read({ order_id: '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71' }).catch(cause => cause)
      const pages = await user.orders.list().toArray({ limit: 5 })
      document.title = JSON.stringify([data, meta.status, error instanceof TrunklineError, error.code, pages])`
    const files: Readonly<Record<string, readonly [type: string, body: string]>> = {
      '/client-page': ['text/html', '<script type="module" src="program.js"></script>'],
      '/program.js': ['text/javascript', program],
      '/client.js': ['text/javascript', bundle]
    }
    for (const [path, [contentType, body]] of Object.entries(files)) {
      await page.route(`${service.url}${path}`, route => route.fulfill({ contentType, body }))
    }
    await page.goto(`${service.url}/client-page`)
    await page.waitForFunction('document.title !== ""')
    assert.deepEqual(JSON.parse(await page.title()), [[], 200, true, 'order_not_found', []])
    await page.close()
  })
})
