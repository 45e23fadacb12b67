// connect.js as platforms use it: a page of another site opens the portal in a popup or a frame, and gets what became of it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { BrowserContext, Page } from 'playwright-core'
import { goOn, logIn, openStage, type Stage } from './stage.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CLI = join(ROOT, 'packages/server/src/cli.ts')

interface Outcome {
  readonly type: string
  readonly reason?: string
  readonly connection_id?: string
  readonly error?: string
}

describe('connect.js in a browser', () => {
  let stage: Stage
  /** Of another site than the service, whose name is an address. */
  let platform = ''
  before(async () => {
    stage = await openStage()
    platform = stage.site.origin.replace('127.0.0.1', 'localhost')
  })
  after(() => stage[Symbol.asyncDispose]())

  /** The platform's page, with a button that opens the link. */
  async function platformPage(context: BrowserContext, link: string, mode: 'popup' | 'frame' = 'popup', readyMs = 600_000): Promise<Page> {
    const html = `<!doctype html><html lang="en"><title>Platform</title><link rel="icon" href="data:,">
      <button>Connect</button><div style="height:520px"></div>
      <script type="module">
        import { createConnect } from '${stage.service.url}/client/connect.js'
        const connect = createConnect({ portalOrigin: '${stage.service.url}', readyMs: ${readyMs} })
        const options = { link: '${link}', mode: '${mode}', container: document.querySelector('div') }
        globalThis.outcomes = []
        document.querySelector('button').onclick = () =>
          connect.open(options).then(outcome => outcomes.push(outcome), error => outcomes.push({ type: String(error) }))
        document.title = 'Ready'
      </script>`
    stage.site.pages.set('/app', html)
    const page = await context.newPage()
    await page.goto(`${platform}/app`)
    await page.waitForFunction('document.title === "Ready"')
    return page
  }

  const outcomesOf = (page: Page): Promise<readonly Outcome[]> => page.evaluate('outcomes')

  async function outcomeOf(page: Page): Promise<Outcome> {
    await page.waitForFunction('outcomes.length > 0')
    const [outcome = assert.fail(), ...others] = await outcomesOf(page)
    assert.deepEqual(others, [])
    return outcome
  }

  async function popupOf(
    page: Page,
    click: () => Promise<void> = () => page.getByRole('button', { name: 'Connect' }).click()
  ): Promise<Page> {
    const opened = page.waitForEvent('popup')
    await click()
    return opened
  }

  const allow = (popup: Page) => popup.getByRole('button', { name: 'Allow' }).click()
  const decline = (popup: Page) => popup.getByRole('button', { name: 'Decline' }).click()
  const link = async () => stage.link(await stage.user(), { redirect_url: `${platform}/linked` })

  test('a popup gives the connection to the page that opened it, and closes; messages of others change nothing', async () => {
    await using context = await stage.browser.newContext()
    const user = await stage.user()
    const arrivals = stage.site.arrivals.length
    const page = await platformPage(context, await stage.link(user, { redirect_url: `${platform}/linked` }))
    const popup = await popupOf(page)
    await goOn(popup)
    // A page of another site in a frame, this page itself, and the broker's page in the popup.
    const forged = `{ type: 'trunkline.connect', event: 'outcome', nonce: 'A'.repeat(22), result: { connection_id: 'forged' } }`
    await page.evaluate(`new Promise(resolve => {
      const frame = document.createElement('iframe')
      frame.srcdoc = "<script>parent.postMessage(${forged.replaceAll('"', "'")}, '*')</script>"
      frame.onload = () => postMessage(${forged}, '*') ?? setTimeout(resolve, 0)
      document.body.append(frame)
    })`)
    await popup.evaluate(`opener.postMessage(${forged}, '*')`)
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.waitForFunction('outcomes.length > 0')
    assert.deepEqual(await outcomesOf(page), [{ type: 'exited', reason: 'busy' }], 'and nothing forged')
    await page.evaluate('outcomes.length = 0')
    await logIn(popup, stage)
    const closed = popup.waitForEvent('close')
    await allow(popup)
    const [connectionId] = await outcomeOf(page).then(async outcome => {
      const connections = await stage.connections(user)
      assert.deepEqual(outcome, { type: 'connected', connection_id: connections[0] })
      return connections
    })
    assert.ok(connectionId !== undefined)
    await closed
    assert.equal(stage.site.arrivals.length, arrivals, 'the redirect is not needed')
  })

  test('declining, and closing the window, have their outcomes', async () => {
    await using context = await stage.browser.newContext()
    const page = await platformPage(context, await link())
    await decline(await popupOf(page))
    const { type, reason, error } = await outcomeOf(page)
    assert.deepEqual([type, reason, error], ['exited', 'not_connected', '401'])
    await page.evaluate('outcomes.length = 0')
    // The link is used now, and its page says so to the opener at once.
    await popupOf(page)
    assert.equal((await outcomeOf(page)).error, '400')
    const other = await platformPage(context, await link())
    const popup = await popupOf(other)
    await popup.getByRole('button', { name: /^Continue/ }).waitFor()
    await popup.close()
    assert.deepEqual(await outcomeOf(other), { type: 'exited', reason: 'closed' })
  })

  test('where nobody waits any more, or a broker cuts the window off, the redirect follows as ever', async () => {
    await using context = await stage.browser.newContext()
    const page = await platformPage(context, await link())
    const popup = await popupOf(page)
    await goOn(popup)
    await logIn(popup, stage)
    await page.goto('about:blank')
    await allow(popup)
    await popup.waitForURL(url => url.pathname === '/linked' && url.searchParams.has('connection_id'))

    const cut = await platformPage(context, await link())
    const severed = await popupOf(cut)
    await goOn(severed)
    const login = severed.url()
    const headers = { 'cross-origin-opener-policy': 'same-origin' }
    await context.route(`${stage.site.origin}/cut`, route => route.fulfill({ contentType: 'text/html', headers, body: 'Elsewhere' }))
    await severed.goto(`${stage.site.origin}/cut`)
    assert.deepEqual(await outcomeOf(cut), { type: 'exited', reason: 'closed' })
    await severed.goto(login)
    await logIn(severed, stage)
    await allow(severed)
    await severed.waitForURL(url => url.pathname === '/linked' && url.searchParams.has('connection_id'))
  })

  test('a frame opens the link in a window, and gives its outcome to the page, if the address is registered', async () => {
    await using context = await stage.browser.newContext()
    const registered = await registeredPlatform(`${platform}/linked`)
    const page = await platformPage(context, await registered.link(), 'frame')
    await page.getByRole('button', { name: 'Connect' }).click()
    const framed = page.frameLocator('iframe').getByRole('button', { name: 'Continue' })
    const popup = await popupOf(page, () => framed.click())
    await goOn(popup)
    await logIn(popup, stage)
    const closed = popup.waitForEvent('close')
    await allow(popup)
    const { type, connection_id: connectionId } = await outcomeOf(page)
    assert.deepEqual([type, [connectionId]], ['connected', await registered.connections()])
    await closed
    assert.equal(await page.locator('iframe').count(), 0)

    // The demo platform has no registered address, so nothing may frame its links.
    const refused = await platformPage(context, await link(), 'frame', 1_000)
    await refused.getByRole('button', { name: 'Connect' }).click()
    assert.deepEqual(await outcomeOf(refused), { type: 'exited', reason: 'unreachable' })
  })

  test('a component of React opens it, gets its outcome, and closes its window when it goes away', async () => {
    await using context = await stage.browser.newContext()
    const page = await context.newPage()
    stage.site.pages.set('/react.js', await reactProgram(await link()))
    stage.site.pages.set(
      '/react',
      '<!doctype html><title>React</title><link rel="icon" href="data:,"><script type="module" src="react.js"></script>'
    )
    await page.goto(`${platform}/react`)
    const popup = await popupOf(page)
    await popup.getByRole('button', { name: 'Decline' }).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Connect' }).isDisabled(), 'a link that is open cannot be opened')
    await decline(popup)
    await page.getByText('not_connected 1', { exact: true }).waitFor()
    // A new link, because the first one is used, and its window would close by itself.
    stage.site.pages.set('/react.js', await reactProgram(await link()))
    await page.reload()
    const other = await popupOf(page)
    await other.getByRole('button', { name: 'Decline' }).waitFor()
    const closed = other.waitForEvent('close')
    await page.getByRole('button', { name: 'Leave' }).click()
    await closed
    await page.getByText('left', { exact: true }).waitFor()
  })

  test('a component of React that is hidden while the portal is open can open it again', async () => {
    await using context = await stage.browser.newContext()
    const page = await context.newPage()
    stage.site.pages.set('/react.js', await reactProgram(await link()))
    await page.goto(`${platform}/react`)
    await popupOf(page)
    const connect = page.getByRole('button', { name: 'Connect' })
    assert.ok(await connect.isDisabled())
    await page.getByRole('button', { name: 'Hide' }).click()
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('button', { name: 'Connect', disabled: false }).waitFor()
  })

  /** Another platform, with one user. */
  async function registeredPlatform(redirect: string) {
    const { service } = stage
    const args = [CLI, 'platform', 'create', '--name', 'Framing', '--claim', 'off', '--redirect', redirect, '--json']
    const env = { PATH: process.env.PATH, TRUNKLINE_DATA_DIR: service.dataDir }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: service.dataDir })
    const { client_id, client_secret } = JSON.parse(stdout)
    const own = { 'client-id': client_id, 'client-secret': client_secret }
    const created = await stage.api.call('POST', '/users', { headers: own, body: { user_id: 'framed' } })
    const headers = { ...own, 'user-id': 'framed', 'user-secret': created.body['user-secret'] }
    return {
      async link(): Promise<string> {
        const body = { connection_type: 'trade', broker: 'SANDBOX', redirect_url: redirect }
        return (await stage.api.call('POST', '/connections', { headers, body })).body.authorization_url
      },
      async connections(): Promise<readonly string[]> {
        const { body } = await stage.api.call('GET', '/connections', { headers })
        return body.map((row: { readonly connection_id: string }) => row.connection_id)
      }
    }
  }
})

/** A program with React as platforms have it. Its callbacks are those of the newest render. */
async function reactProgram(link: string): Promise<string> {
  const contents = `
    import { Activity, createElement, StrictMode, useState } from 'react'
    import { createRoot } from 'react-dom/client'
    import { useTrunklineConnect } from './packages/client/dist/react.js'

    function Connecting() {
      const [text, setText] = useState('waiting')
      const [count, setCount] = useState(0)
      const { open, ready } = useTrunklineConnect({ link: '${link}', onExit: ({ reason }) => setText(reason + ' ' + count) })
      const onClick = () => { setCount(count + 1); void open() }
      return [createElement('button', { key: 1, onClick, disabled: !ready }, 'Connect'), createElement('p', { key: 2 }, text)]
    }
    function App() {
      const [isThere, setThere] = useState(true)
      const leave = createElement('button', { key: 1, onClick: () => setThere(false) }, 'Leave')
      const [isHidden, setHidden] = useState(false)
      const hide = createElement('button', { key: 3, onClick: () => setHidden(!isHidden) }, isHidden ? 'Show' : 'Hide')
      const connecting = createElement(Activity, { key: 2, mode: isHidden ? 'hidden' : 'visible' }, createElement(Connecting))
      return [leave, hide, isThere ? connecting : createElement('p', { key: 2 }, 'left')]
    }
    createRoot(document.body).render(createElement(StrictMode, null, createElement(App)))`
  const { outputFiles } = await build({
    ...{ stdin: { contents, resolveDir: ROOT }, bundle: true, write: false, format: 'esm', logLevel: 'silent' },
    define: { 'process.env.NODE_ENV': '"development"' }
  })
  return outputFiles[0]?.text ?? ''
}
