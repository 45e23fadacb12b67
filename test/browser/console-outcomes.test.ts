// What the console shows of changes whose answers are lost, late or overtaken, of sessions without a scope, and where the keyboard stays.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { headed, NO_SESSION, read, SharedConsole } from './console-stage.ts'
import { visit } from './visit.ts'

const UNKNOWN = 'Unknown: it may have been done, or not.'
/** As a proxy answers that has given up. */
const GIVEN_UP = { status: 504, contentType: 'text/html', body: 'Gateway timeout' }

/** The requests of a page that change something, as they are sent. */
function changesOf(page: Page): readonly string[] {
  const sent: string[] = []
  page.on('request', request => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname.replace('/admin/v1', '')}`)
  })
  return sent
}

describe('outcomes in the console', () => {
  const at = new SharedConsole()

  test('a dialog stays what it was opened as when another operator changes the record', async () => {
    await using walk = await at.loggedIn({}, { refusals: /^409: .*\/disable$/ })
    const { page } = walk
    const sent = changesOf(page)
    // The other operator is faster, and the page reads again.
    await page.route('**/admin/v1/users/*/disable', async route => {
      if (sent.length > 1) return route.continue()
      await route.fetch()
      await route.fulfill({ status: 409, json: { code: 'request_conflict', message: 'Another one does it.' } })
    })
    await at.open(page, `/users/${at.userKey}`)
    await page.getByRole('button', { name: 'Disable…' }).click()
    const dialog = page.getByRole('dialog', { name: `Disable the user ${at.trader.userId}` })
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByText('Another one does it.').waitFor()
    await page.getByText('Enable…', { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByText('is disabled.').waitFor()
    assert.deepEqual(sent, Array(2).fill(`POST /users/${at.userKey}/disable`))
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Enable…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
    await page.getByText('is enabled.').waitFor()
    assert.equal((await read(page, `/users/${at.userKey}`)).is_disabled, false)
  })

  test('what became of a change stays until it is closed, also when its button has gone', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true, refusals: /^504: .*\/never-received$/ })
    const { page } = walk
    const { order_id: id } = at.filled
    let state = 'unknown'
    await page.route(`**/admin/v1/orders/${id}`, async route => {
      const order = await (await route.fetch()).json()
      await route.fulfill({ json: { ...order, normalized_status: 'pending', submission: { ...order.submission, state } } })
    })
    await page.route('**/never-received', async route => {
      state = 'not_received'
      await route.fulfill(GIVEN_UP)
    })
    await at.open(page, '/orders')
    await at.open(page, `/orders/${id}`)
    const button = page.getByText('End as never received…')
    await button.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('How you know').fill('by telephone')
    await dialog.getByRole('button', { name: 'End as never received' }).click()
    await button.waitFor({ state: 'detached' })
    await dialog.getByText(UNKNOWN).waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'End as never received' }).count(), 0)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  test('a change that is under way is not left: not by Escape, and not by going back', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true, refusals: /^504: .*\/disable$/ })
    const { page } = walk
    const held = Promise.withResolvers<Route>()
    await page.route('**/admin/v1/users/*/disable', route => held.resolve(route))
    await at.open(page, '/platforms')
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await headed(page, 'Users')
    await page.getByRole('link', { name: at.trader.userId, exact: true }).click()
    const dialog = page.getByRole('dialog')
    const ask = () => page.getByRole('button', { name: 'Disable…' }).click()
    await ask()
    await page.goBack()
    await headed(page, 'Users')
    assert.equal(await dialog.count(), 0, 'nothing was sent')
    await page.goForward()
    await ask()
    await dialog.getByRole('button', { name: 'Disable' }).click()
    const route = await held.promise
    // A browser lets a page prevent the first one only.
    for (let times = 0; times < 3; times++) await page.keyboard.press('Escape')
    await page.goBack()
    await headed(page, 'Users')
    await route.fulfill(GIVEN_UP)
    await dialog.getByText(UNKNOWN).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  test('a browser that says that it has no network holds no change back to send it later', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    const sent = changesOf(page)
    await at.open(page, `/users/${at.userKey}`)
    const dialog = page.getByRole('dialog')
    for (const name of ['Disable', 'Enable']) {
      await page.getByRole('button', { name: `${name}…` }).click()
      await page.evaluate("dispatchEvent(new Event('offline'))")
      await dialog.getByRole('button', { name }).click()
      await dialog.getByText(`is ${name.toLowerCase()}d.`).waitFor()
      await page.evaluate("dispatchEvent(new Event('online'))")
      await dialog.getByRole('button', { name: 'Close' }).click()
    }
    assert.deepEqual(
      sent,
      ['disable', 'enable'].map(name => `POST /users/${at.userKey}/${name}`)
    )
  })

  test('a change of the sandbox whose answer was lost is not offered again before the page was read', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true, refusals: /^50[34]: / })
    const { page } = walk
    let areReadsLost = false
    // It is done, and a proxy has given up meanwhile.
    await page.route('**/admin/v1/sandbox/clock', async route => {
      await route.fetch()
      await route.fulfill(GIVEN_UP)
    })
    await page.route('**/admin/v1/sandbox', route =>
      areReadsLost ? route.fulfill({ status: 503, json: { code: 'sandbox_unavailable', message: 'No answer.' } }) : route.fallback()
    )
    await at.open(page, '/sandbox')
    const [pause, run] = [
      page.getByRole('button', { name: /^(Pause all prices|Let prices come)$/ }),
      page.getByRole('button', { name: 'Let the clock run' })
    ]
    await page.getByRole('button', { name: 'Stop the clock' }).click()
    const alert = page.getByRole('alert').filter({ hasText: UNKNOWN })
    await alert.waitFor()
    await run.waitFor()
    assert.deepEqual([await pause.isDisabled(), await run.isDisabled()], [true, true])
    areReadsLost = true
    await alert.getByRole('button', { name: 'Read again' }).click()
    await page.getByText('No answer.').waitFor()
    assert.ok((await alert.isVisible()) && (await run.isDisabled()), 'it was not read')
    areReadsLost = false
    await page.unroute('**/admin/v1/sandbox/clock')
    await alert.getByRole('button', { name: 'Read again' }).click()
    await alert.waitFor({ state: 'detached' })
    await run.click()
    await page.getByText('The clock runs.').waitFor()
  })

  test('a button that is pressed twice at once sends one change', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    const sent = changesOf(page)
    await at.open(page, '/sandbox')
    const button = page.getByRole('button', { name: 'Count from zero' })
    await button.waitFor()
    await button.evaluate((element: { click(): void }) => {
      element.click()
      element.click()
    })
    await page.getByText('They begin at zero.').waitFor()
    assert.deepEqual(sent, ['DELETE /sandbox/counters'])
  })

  test('a session that may not read sees which scope is missing, and asks for nothing that is refused', async () => {
    for (const scope of ['manage', 'sandbox']) {
      await using walk = await visit(at.browser, {}, { isHurried: true, refusals: NO_SESSION })
      const { page } = walk
      const { url } = await at.stage.operate('operator', 'link', '--scope', scope)
      await page.goto(url.replace('/console/', '/console/orders'))
      await headed(page, 'No scope to read')
      await page.getByText(`npm run cli -- operator link --scope read --scope ${scope}`).waitFor()
      await page.getByRole('link', { name: 'Sandbox', exact: true }).click()
      await headed(page, 'Sandbox')
      await (scope === 'sandbox' ? page.getByText('The clock') : page.getByText('This page needs the scope sandbox')).first().waitFor()
    }
  })

  test('a page that is read again leaves the keyboard where it is', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    await page.clock.install()
    await at.open(page, '/sandbox')
    await page.getByRole('button', { name: 'Lose the answer of the next order' }).click()
    await page.getByRole('button', { name: /^Clear fault-/ }).waitFor()
    for (const [name, username] of [
      [/^End grants of /, 'one-more'],
      [/^Clear fault-/, 'and-another']
    ] as const) {
      const button = page.getByRole('button', { name }).first()
      await button.focus()
      await page.evaluate("document.activeElement.dataset.mine = 'yes'")
      const body = JSON.stringify({ username })
      const headers = "{ 'content-type': 'application/json', 'x-trunkline-operator': '1' }"
      await page.evaluate(`fetch('/admin/v1/sandbox/logins', { method: 'POST', headers: ${headers}, body: '${body}' })`)
      await page.clock.fastForward(6_000)
      await page.getByRole('button', { name: `End grants of ${username}` }).waitFor()
      assert.equal(await page.evaluate('document.activeElement?.dataset.mine'), 'yes', String(name))
      await page.evaluate('delete document.activeElement.dataset.mine')
    }
    await page.getByRole('button', { name: /^Clear fault-/ }).click()
    await page.getByText('No fault is set.').waitFor()
  })
})
