// An operator logs in to the console by a provider, as a browser does it: there, back to the page, and whatever goes wrong in between.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { chromiumLaunchOptions } from '@trunkline/testkit/chromium'
import { CLIENT, TestLoginProvider } from '@trunkline/testkit/login-provider'
import { type Browser, chromium, type Page } from 'playwright-core'
import { Stage } from '../acceptance/stream-stage.ts'
import { headed, NO_SESSION } from './console-stage.ts'
import { fits, passesAxe, WIDTHS } from './fitness.ts'
import { visit } from './visit.ts'

const GROUPS = ['traders']

describe('the console’s login by a provider', () => {
  let kit: TestLoginProvider
  let stage: Stage
  let browser: Browser
  before(async () => {
    kit = await TestLoginProvider.start('id_token', 'localhost')
    stage = await Stage.open('embedded', {
      ...{ TRUNKLINE_OIDC_ISSUER: kit.issuer, TRUNKLINE_OIDC_CLIENT_ID: CLIENT.id, TRUNKLINE_OIDC_CLIENT_SECRET: CLIENT.secret },
      ...{ TRUNKLINE_OIDC_REQUEST: 'openid email groups', TRUNKLINE_OIDC_OPERATOR_CLAIM: 'email', TRUNKLINE_OIDC_NAME: 'Our company' },
      ...{ TRUNKLINE_OIDC_GRANT_CLAIM: 'groups', TRUNKLINE_OIDC_GRANTS: 'traders=read' }
    })
    // Another site: cookies of ours do not come with what the provider sends.
    assert.notEqual(new URL(stage.service.url).hostname, new URL(kit.issuer).hostname)
    browser = await chromium.launch(chromiumLaunchOptions())
  })
  after(async () => {
    await browser?.close()
    await stage?.[Symbol.asyncDispose]()
    await kit?.[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    kit.identity = { sub: 'ada', email: 'ada@example.com', email_verified: true, groups: GROUPS }
  })

  const open = (page: Page, path: string) => page.goto(`${stage.service.url}/console${path}`)
  const atProvider = async (page: Page) => {
    await page.getByRole('button', { name: 'Log in with Our company' }).click()
    await headed(page, 'Log in at the provider')
  }
  const operatorOf = (page: Page) => page.locator('.account .operator').textContent()

  test('leads to the provider and back to the same page, and leaves no code in the address or the history [S20]', async () => {
    await using walk = await visit(browser, {}, { isHurried: true, refusals: /^(401: .*\/session|422: .*\/orders\?user=007)$/ })
    const { page } = walk
    await open(page, '/orders?user=007')
    await atProvider(page)
    const sent = await page.context().cookies(stage.service.url)
    assert.deepEqual(
      sent.map(({ name, httpOnly, sameSite }) => [name.replace(/\d+$/, 'PORT'), httpOnly, sameSite]),
      [['trunkline-login-PORT', true, 'Strict']]
    )
    await page.getByRole('button', { name: 'Continue' }).click()
    await headed(page, 'Orders')
    assert.equal(page.url(), `${stage.service.url}/console/orders?user=007`)
    assert.equal(await operatorOf(page), `ada@example.com (${new URL(kit.issuer).host})`)
    const kept = await page.context().cookies(stage.service.url)
    assert.deepEqual(
      kept.map(({ name, httpOnly, sameSite }) => [name.replace(/\d+$/, 'PORT'), httpOnly, sameSite]),
      [['trunkline-operator-PORT', true, 'Strict']]
    )
    await page.goBack()
    assert.doesNotMatch(page.url(), /code=/)
  })

  test('does not replace the session of a browser that somebody’s link leads to the callback [S92]', async () => {
    await using walk = await visit(browser, {}, { isHurried: true, refusals: NO_SESSION })
    const { page } = walk
    await open(page, '/')
    await atProvider(page)
    await page.getByRole('button', { name: 'Continue' }).click()
    await headed(page, 'Home')
    kit.identity = { ...kit.identity, sub: 'eve', email: 'eve@example.com' }
    await page.goto(`${stage.service.url}/admin/v1/oidc/callback?code=of-eve&state=of-eve&iss=${kit.issuer}`)
    await headed(page, 'Home')
    assert.equal(page.url(), `${stage.service.url}/console/`)
    assert.match((await operatorOf(page)) ?? '', /^ada@/)
  })

  test('says who cancelled, who has no scope and what to ask, and that a link of somebody else is none of this browser’s', async () => {
    await using walk = await visit(browser, {}, { isHurried: true, refusals: /^401: .*\/(session|oidc\/sessions)$/ })
    const { page } = walk
    await open(page, '/audit')
    await atProvider(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alert').getByText('did not log you in (access_denied)').waitFor()
    kit.identity = { ...kit.identity, groups: ['Other'] }
    await atProvider(page)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('alert').getByText('Ask the administrator of this service to add a value of it to TRUNKLINE_OIDC_GRANTS').waitFor()
    assert.equal(page.url(), `${stage.service.url}/console/`)
    await page.goto(`${stage.service.url}/admin/v1/oidc/callback?code=x&state=x`)
    await page.getByRole('alert').getByText('not begun in this browser').waitFor()
    await page.getByLabel('Link or code').waitFor()
  })

  test('is for everybody, and says what signing out ends', async () => {
    await using walk = await visit(browser, { bypassCSP: true, reducedMotion: 'reduce' }, { refusals: NO_SESSION })
    const { page } = walk
    await open(page, '/')
    await page.getByText('Signing out of the console ends its session only').waitFor()
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      await fits(page, `the login at ${width} px`)
    }
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await passesAxe(page, `the login, ${colorScheme}`)
    }
  })
})
