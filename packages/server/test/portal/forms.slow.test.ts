// Forms of the portal come from its own pages, and the cookie that identifies the browser from the service itself.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Browser, openScene, type Scene } from './support.ts'

describe('a form of the portal', () => {
  let scene: Scene
  before(async () => {
    scene = await openScene()
  })
  after(() => scene[Symbol.asyncDispose]())

  test('sent by another site is refused and audited, and the page’s own still counts', async () => {
    const link = await scene.link('forms')
    const browser = new Browser()
    await browser.get(link)
    const form = { decision: 'approve', broker: 'SANDBOX' }
    const foreign: readonly Readonly<Record<string, string>>[] = [
      { 'sec-fetch-site': 'cross-site', origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example' },
      { origin: `${scene.url}.evil.example` },
      { origin: scene.url.replace(/\d+$/, '1') }
    ]
    for (const headers of foreign) {
      const answer = await browser.post(link, form, headers)
      assert.deepEqual([answer.status, answer.location], [403, ''], JSON.stringify(headers))
      assert.match(answer.html, /<h1>This request did not come from our page<\/h1>/)
    }
    const refusals = async () => (await scene.store.audit.list(50)).filter(({ action }) => action === 'connection.callback')
    await until(async () => (await refusals()).length > 0, 'the refusal is on the audit log')
    const [entry] = await refusals()
    assert.deepEqual([entry?.result, entry?.detail], ['refused', { reason: 'foreign_form', from: '127.0.0.1', times: 1 }])
    const own: readonly Readonly<Record<string, string>>[] = [
      { 'sec-fetch-site': 'same-origin', origin: 'null' },
      { origin: scene.url },
      {}
    ]
    for (const headers of own) assert.equal((await browser.post(link, form, headers)).status, 303, JSON.stringify(headers))
  })

  test('with a cookie that the service did not make is refused', async () => {
    const link = await scene.link('planted')
    const victim = new Browser()
    for (const value of ['a'.repeat(43), `${'a'.repeat(43)}.${'b'.repeat(43)}`]) {
      victim.plant(scene.url, 'trunkline-portal', value)
      const answer = await victim.post(link, { decision: 'approve', broker: 'SANDBOX' })
      assert.match(answer.html, /<h1>This link belongs to another browser<\/h1>/)
      await victim.get(link)
      assert.notEqual(victim.cookies(scene.url), `trunkline-portal=${value}`, 'the page gives one of its own instead')
    }
    assert.equal((await victim.post(link, { decision: 'approve', broker: 'SANDBOX' })).status, 303)
  })
})
