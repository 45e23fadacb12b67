// Every page anybody meets in a browser: judged by axe in light and dark, read at four widths, and photographed where that is asked for.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { INHERITED } from '@trunkline/testkit/short-lived'
import type { Page } from 'playwright-core'
import type { User } from '../acceptance/api.ts'
import { fits, passesAxe, RULES_OF_COLOR, SCHEMES, WIDTHS } from './fitness.ts'
import { GOOD_KEYS } from './keyed-login.ts'
import { enterDemo, goOn, headingOf, homeLink, logIn, openStage, type Stage } from './stage.ts'
import { visit } from './visit.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
/** Where screenshots are kept. They take much of this file's processor time, so they are made on request only. */
const SCREENSHOTS = process.env.TRUNKLINE_SCREENSHOTS === '1' ? join(ROOT, 'test-results', 'pages') : null
/** Higher ones take browsers ages. */
const SCREENSHOT_PX_MAX = 16_000
const OUTCOMES = [
  ...['connected', 'declined', 'keys_refused', 'expired', 'used', 'other_browser'],
  ...['unknown_link', 'bad_callback', 'broker_down', 'other_login', 'not_renewable', 'user_removed', 'foreign_form']
] as const

const LONG_NAME = 'Σύμβουλος & Söhne <i>Wertpapierhandelsgesellschaft</i> "Ostfriesland" 🦜 mbH & Co. KG'
const RTL_NAME = 'ניירות ערך (Tel Aviv) 2026'
const LONG_USER = `${'w'.repeat(40)}@${'subdomain'.repeat(2)}.test`

describe('every page', () => {
  let stage: Stage
  let user: User
  before(async () => {
    if (SCREENSHOTS !== null) await mkdir(SCREENSHOTS, { recursive: true })
    stage = await openStage('packages/server/test/portal/program.ts')
    user = await stage.user()
  })
  after(() => stage[Symbol.asyncDispose]())

  for (const reason of OUTCOMES) {
    test(`the ending ${reason}`, () => judge(`ending-${reason}`, page => page.goto(`${stage.service.url}/connect/result/${reason}`)))
  }

  for (const type of ['readonly', 'trade', 'market_data']) {
    test(`an invitation to ${type}`, async () => {
      const link = await stage.link(user, { connection_type: type })
      await judge(`invitation-${type}`, page => page.goto(link))
    })
  }

  test('a choice among several brokers', async () => {
    const link = await stage.link(user, { broker: undefined })
    await judge('picker', async page => {
      await page.goto(link)
      const { body: brokers } = await stage.api.call('GET', '/brokers', { headers: stage.api.platform })
      assert.equal(await page.getByRole('radio').count(), brokers.length)
      await page.getByRole('radio', { name: 'Pale Securities' }).check()
    })
    await judge('picker-search', page => page.goto(`${link}?search=tra`))
    await judge('picker-nothing', page => page.goto(`${link}?search=nobody`))
    await judge('picker-missing', async page => {
      await page.goto(await stage.link(user, { broker: undefined }))
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('alert').waitFor()
    })
    await judge('permissions-chosen', async page => {
      await page.goto(await stage.link(user, { broker: undefined }))
      await page.getByRole('radio', { name: 'The First Amalgamated' }).check()
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('link', { name: 'Back' }).waitFor()
    })
  })

  test('the choice can be seen without scrolling at every step, on the smallest phone', async () => {
    await using walk = await visit(stage.browser, { viewport: { width: 320, height: 568 } })
    const { page } = walk
    const seen = async (name: string) => {
      const { y = 0, height = 0 } = (await page.getByRole('button', { name }).boundingBox()) ?? {}
      assert.ok(height >= 44 && y + height <= 568, `${name} is at ${y}, ${height} high`)
    }
    await page.goto(await stage.link(user, { broker: undefined }))
    await seen('Continue')
    await seen('Decline')
    await page.goto(await stage.link(user, { broker: 'LONGNAME' }))
    await seen('Continue to The First')
    await seen('Decline')
    await page.goto(await stage.link(user, { broker: 'KEYED' }))
    await page.getByRole('button', { name: 'Continue to Keyed Trading' }).click()
    await page.getByLabel('Secret key').waitFor()
    await seen('Connect')
    await seen('Decline')
  })

  test('a platform with a colour and an address: both are on its pages, and its button can be read', async () => {
    const look = ['--app-url', `${stage.site.origin}/app`]
    const link = await linkOf('Meridian Wealth', 'jordan', '--color', '#d9480f', ...look)
    await judge('color', page => page.goto(link))
    await judge('color-end', async page => {
      await page.goto(link)
      if (page.url() === link) await page.getByRole('button', { name: 'Decline' }).click()
      const back = page.getByRole('link', { name: 'Back to Meridian Wealth' })
      assert.equal(await back.getAttribute('href'), `${stage.site.origin}/app`)
    })
    // No colour of its own stands out from a page of the same.
    for (const [color, colorScheme] of [
      ['#ffffff', 'light'],
      ['#1a212a', 'dark']
    ] as const) {
      await using walk = await visit(stage.browser, { colorScheme, bypassCSP: true })
      await walk.page.goto(await linkOf('Meridian Wealth', 'jordan', '--color', color, ...look))
      await photograph(walk.page, `color-${color.slice(1)}.${colorScheme}`)
      await passesAxe(walk.page, `${color} on ${colorScheme}`)
    }
  })

  test('a user who wants no colours or motion has the same pages', async () => {
    await using walk = await visit(stage.browser, { forcedColors: 'active', bypassCSP: true, reducedMotion: 'reduce' })
    const { page } = walk
    await page.goto(await stage.link(user, { broker: undefined }))
    await page.getByRole('radio', { name: 'Alpaca' }).check()
    await photograph(page, 'picker.forced-colors')
    await passesAxe(page, 'the choice in forced colours')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Continue to Alpaca' }).waitFor()
    await photograph(page, 'permissions.forced-colors')
    await passesAxe(page, 'the permissions in forced colours')
  })

  test('the form for keys, and its complaint', async () => {
    const begin = async (page: Page) => {
      await page.goto(await stage.link(user, { broker: 'KEYED' }))
      await page.getByRole('button', { name: 'Continue to Keyed Trading' }).click()
      await page.getByLabel('Secret key').waitFor()
    }
    await judge('keys', begin)
    await judge('keys-missing', async page => {
      await begin(page)
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('alert').first().waitFor()
    })
    await judge('keys-wrong', async page => {
      await begin(page)
      await page.getByLabel('API key').fill('PKNOBODY')
      await page.getByLabel('Secret key').fill('nobody')
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('alert').waitFor()
    })
  })

  test('the page that leads on after keys', async () => {
    await judge('keys-onward', async page => {
      // It would be gone before anybody could look at it.
      await page.route('**/keys/keyed', async route => {
        const response = await route.fetch()
        await route.fulfill({ response, body: (await response.text()).replace(/<meta http-equiv="refresh"[^>]*>/, '') })
      })
      await page.goto(await stage.link(user, { broker: 'KEYED', redirect_url: stage.site.linked }))
      await page.getByRole('button', { name: 'Continue to Keyed Trading' }).click()
      await page.getByLabel('API key').fill(GOOD_KEYS.key_id)
      await page.getByLabel('Secret key').fill(GOOD_KEYS.secret_key)
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('link', { name: 'Continue, if nothing happens' }).waitFor()
    })
  })

  test('the page in the frame of a platform', async () => {
    const link = await linkOf(LONG_NAME, 'framed', '--redirect', stage.site.linked)
    await judge('frame', async page => {
      // Its script sends to the page around the frame, which is missing here.
      await page.route('**/frame.js', route => route.fulfill({ contentType: 'text/javascript', body: '' }))
      await page.goto(`${link}/frame?connect=frame.${'A'.repeat(22)}`)
      assert.equal(await headingOf(page), `Connect your account to ${LONG_NAME}`)
      await page.evaluate(
        `[...document.querySelectorAll('[hidden]')].find(each => each.textContent.includes('did not open')).removeAttribute('hidden')`
      )
      await page.getByText('did not open').waitFor()
    })
  })

  for (const [name, platform] of Object.entries({ long: LONG_NAME, 'right-to-left': RTL_NAME })) {
    test(`an invitation by a platform whose name is ${name}`, async () => {
      const link = await linkOf(platform, LONG_USER)
      await judge(`invitation-${name}`, async page => {
        await page.goto(link)
        assert.ok((await headingOf(page)).startsWith(`${platform} would like to connect`), 'the name is shown as it is written')
      })
    })
  }

  test('the broker’s login, its complaint, and its question', async () => {
    const begin = async (page: Page) => {
      await page.goto(await stage.link(user))
      await goOn(page)
    }
    await judge('broker-login', begin)
    await judge('broker-login-wrong', async page => {
      await begin(page)
      await page.getByLabel('Username').fill('nobody')
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('alert').waitFor()
    })
    await judge('broker-consent', async page => {
      await begin(page)
      await logIn(page, stage)
    })
  })

  test('the broker’s refusal of a walk it does not know, and its front page', async () => {
    let origin = ''
    {
      await using walk = await visit(stage.browser)
      await walk.page.goto(await stage.link(user))
      await goOn(walk.page)
      origin = new URL(walk.page.url()).origin
    }
    await judge('broker-error', page => page.goto(`${origin}/login/unknown`))
    await judge('broker-home', page => page.goto(origin))
  })

  test('the first page, closed and opened', async () => {
    await judge('home-closed', page => page.goto(stage.service.url))
    await judge('home', page => enterDemo(page, stage.service))
    await judge('home-spent', page => page.goto(`${stage.service.url}/?code=${'x'.repeat(43)}`))
  })

  test('without scripts the printed link opens the first page at a press of its button', async () => {
    await using walk = await visit(stage.browser, { javaScriptEnabled: false })
    const { page } = walk
    await page.goto(await homeLink(stage.service))
    await page.getByRole('button', { name: 'Show credentials' }).click()
    await page.getByText(stage.service.demo.client_id, { exact: true }).waitFor()
    assert.equal(page.url(), `${stage.service.url}/`)
  })

  test('the commands of the first page are copied whole at a press of a button', async () => {
    await using walk = await visit(stage.browser, { permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = walk
    await enterDemo(page, stage.service)
    const commands = page.locator('.commands li')
    for (let at = 0; at < (await commands.count()); at++) {
      await commands.nth(at).getByRole('button', { name: 'Copy' }).click()
      await commands.nth(at).getByRole('button', { name: 'Copied' }).waitFor()
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), await commands.nth(at).locator('code').textContent())
    }
  })

  test('the reference begins with its text on a phone, and has its contents beside it on a desktop', async () => {
    await using walk = await visit(stage.browser, { viewport: { width: 390, height: 844 } })
    const { page } = walk
    await page.goto(`${stage.service.url}/docs`)
    const first = page.getByRole('link', { name: 'Create a user' })
    assert.equal(await first.isVisible(), false)
    assert.ok(((await page.getByRole('heading', { name: 'Basics' }).boundingBox())?.y ?? 844) < 600)
    await page.getByText('Contents', { exact: true }).click()
    await first.waitFor()
    await page.getByText('Contents', { exact: true }).click()
    await page.setViewportSize({ width: 1280, height: 900 })
    await first.waitFor()
  })

  test('the reference', () =>
    judge('docs', async page => {
      await page.goto(`${stage.service.url}/docs`)
      await page.evaluate('for (const details of document.querySelectorAll("details")) details.open = true')
    }))

  test('the errors, and one of them', async () => {
    await judge('errors', page => page.goto(`${stage.service.url}/docs/errors`))
    await judge('error', page => page.goto(`${stage.service.url}/docs/errors/cl_order_id_duplicate`))
  })

  test('the guides, from the first page on', () =>
    judge('guides', async page => {
      await page.goto(stage.service.url)
      await page.getByRole('link', { name: '/docs/guides' }).click()
      await page.getByRole('link', { name: 'Connecting' }).waitFor()
    }))

  test('an address of the documentation that there is not', () =>
    judge('docs-nothing', async page => {
      assert.equal((await page.goto(`${stage.service.url}/docs/nothing`))?.status(), 404)
      assert.equal(await headingOf(page), 'There is nothing at this address')
      await page.getByRole('combobox').waitFor()
    }))

  test('the guide to begin with', () => judge('guide-start', page => page.goto(`${stage.service.url}/docs/guides/start`)))

  test('a guide', () => judge('guide', page => page.goto(`${stage.service.url}/docs/guides/orders`)))

  test('the live page, while its figures move', () =>
    judge('live', async page => {
      await enterDemo(page, stage.service)
      await page.goto(`${stage.service.url}/docs/live`)
      await page.locator('#chain tr').nth(20).waitFor()
      await page.locator('#trades tr.up, #trades tr.down').first().waitFor()
    }))

  test('the live page where it asks for a token', () =>
    judge('live-token', async page => {
      await page.goto(`${stage.service.url}/docs/live`)
      await page.getByLabel('Access token').waitFor()
    }))

  test('the portal without a link', () => judge('portal-without-link', page => page.goto(`${stage.service.url}/connect`)))

  test('no page exists where none is meant to be', () =>
    judge('nowhere', async page => {
      for (const path of ['/connect/nothing', '/connect/a/b', '/connect/result/__proto__', '/connect/result/x']) {
        const answer = await page.goto(stage.service.url + path)
        assert.ok([400, 404].includes(answer?.status() ?? 0), path)
        assert.equal(await headingOf(page), 'This link is not valid', path)
      }
    }))

  test('a page that is not fit for everybody would be found out', async () => {
    await using walk = await visit(stage.browser, { bypassCSP: true })
    const { page } = walk
    await page.goto(`${stage.service.url}/connect/result/connected`)
    await page.evaluate(`document.querySelector('h1').style = 'color: #999; white-space: nowrap; font-size: 30rem'`)
    await assert.rejects(passesAxe(page, 'pale letters'), /color-contrast/)
    await assert.rejects(fits(page, 'a wide heading'), /px wide/)
  })

  /**
   * Brings a page about, and holds it to what a page must be at each width, in each colour scheme. A scheme changes colours and nothing
   * else.
   */
  async function judge(name: string, bring: (page: Page) => Promise<unknown>): Promise<void> {
    // The inspector is a script, which our pages let nobody bring; that they do not is tested where nothing is bypassed.
    await using walk = await visit(stage.browser, { colorScheme: 'light', bypassCSP: true, reducedMotion: 'reduce' })
    const { page } = walk
    await bring(page)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      await fits(page, `${name} at ${width} px`)
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme })
        await photograph(page, `${name}.${width}.${colorScheme}`)
        if (width !== 320) await passesAxe(page, `${name} at ${width} px, ${colorScheme}`, colorScheme === 'light' ? null : RULES_OF_COLOR)
      }
    }
    await page.setViewportSize({ width: 640, height: 400 })
    await page.addStyleTag({ content: 'html { font-size: 200% }' })
    await fits(page, `${name} with letters of twice the size`)
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme })
      await photograph(page, `${name}.zoom.${colorScheme}`)
    }
  }

  /** A link for a user of a platform made for it by the operator's own command. */
  async function linkOf(platform: string, userId: string, ...look: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(ROOT, 'packages/server/src/cli.ts'), 'platform', 'create', '--claim', 'off', '--name', platform, '--json', ...look],
      { env: { ...INHERITED, TRUNKLINE_DATA_DIR: stage.service.dataDir } }
    )
    const { client_id: clientId, client_secret: clientSecret } = JSON.parse(stdout)
    const headers = { 'client-id': clientId, 'client-secret': clientSecret }
    const { body: user } = await stage.api.call('POST', '/users', { headers, body: { user_id: userId } })
    const answer = await stage.api.call('POST', '/connections', {
      headers: { ...headers, 'user-id': userId, 'user-secret': user['user-secret'] },
      body: { connection_type: 'trade', broker: 'SANDBOX', ...(look.includes('--redirect') && { redirect_url: stage.site.linked }) }
    })
    return answer.body.authorization_url
  }
})

/** A screenshot of the whole page, as far as a screenshot can be high. */
async function photograph(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === null) return
  const [width, height] = await page.evaluate<[number, number]>('[innerWidth, document.documentElement.scrollHeight]')
  const clip = { x: 0, y: 0, width, height: Math.min(height, SCREENSHOT_PX_MAX) }
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true, clip })
}
