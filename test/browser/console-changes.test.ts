// What operators change in the console, and what they do in the sandbox: by keyboard, and with answers that are lost.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebhookReceiver } from '../acceptance/webhook-receiver.ts'
import { headed, judge, NO_SESSION, SharedConsole } from './console-stage.ts'
import { visit } from './visit.ts'

describe('changes in the console', () => {
  const at = new SharedConsole()

  test('an endpoint is made, tried and disabled by keyboard, and the page shows what became of it', async () => {
    await using receiver = await WebhookReceiver.open()
    await using walk = await at.loggedIn()
    const { page } = walk
    await at.open(page, '/endpoints')
    await page.getByRole('button', { name: 'Create an endpoint…' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('From now on the updates of all users').waitFor()
    await dialog.getByLabel('Address').fill(receiver.url)
    await page.keyboard.press('Enter')
    await dialog.getByText('shown only this once').waitFor()
    const secret = await dialog.getByText(/^whsec_/).innerText()
    receiver.secrets = [secret]
    await page.keyboard.press('Escape')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Create an endpoint…')
    assert.ok(!(await page.content()).includes(secret), 'the page forgets the secret')
    await page.getByRole('link', { name: new URL(receiver.url).host }).click()
    await headed(page, `Endpoint ${new URL(receiver.url).host}`)
    await page.getByRole('button', { name: 'Send a test message…' }).click()
    await dialog.getByRole('button', { name: 'Send a test message' }).click()
    await dialog.getByText('delivered').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row').filter({ hasText: 'test message' }).filter({ hasText: 'delivered' }).waitFor()
    assert.equal(receiver.received.length, 1)
    await page.getByRole('button', { name: 'Disable…' }).click()
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByText('The endpoint is disabled.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Enable…' }).waitFor()
  })

  test('a change whose answer was lost is shown as unknown, and what is so is read again', async () => {
    await using walk = await at.loggedIn({}, { refusals: /^502: / })
    const { page } = walk
    // A proxy gives up; the service has done it.
    await page.route('**/admin/v1/users/*/disable', async route => {
      await route.fetch()
      await route.fulfill({ status: 502, contentType: 'text/html', body: 'Bad gateway' })
    })
    await at.open(page, `/users/${at.userKey}`)
    await page.getByRole('button', { name: 'Disable…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Disable' }).click()
    await dialog.getByText('Unknown: it may have been done, or not.').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Disable' }).count(), 0, 'it is not offered again')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Enable…' }).click()
    await dialog.getByRole('button', { name: 'Enable' }).click()
    await dialog.getByText(`${at.trader.userId} is enabled.`).waitFor()
  })

  test('a session that may not change anything sees every button, disabled, and why', async () => {
    await using walk = await visit(at.browser, {}, { refusals: NO_SESSION })
    const { page } = walk
    const { url } = await at.stage.operate('operator', 'link', '--scope', 'read')
    await page.goto(url.replace('/console/', '/console/platforms'))
    const button = page.getByRole('button', { name: 'Disable…' })
    await button.waitFor()
    assert.equal(await button.isDisabled(), true)
    await page.getByText('Changes need the scope manage').waitFor()
    assert.equal(await button.getAttribute('aria-describedby'), 'needs-manage')
  })

  test('the dialogs of changes are for everybody', async () => {
    await using walk = await at.loggedIn({ bypassCSP: true, reducedMotion: 'reduce' }, { isHurried: true })
    const { page } = walk
    for (const [path, button, screenshot] of [
      ['/platforms', 'Disable…', 'dialog-platform'],
      ['/endpoints', 'Create an endpoint…', 'dialog-endpoint'],
      ['/orders', 'End several as never received…', 'dialog-orders']
    ] as const) {
      await at.open(page, path)
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor()
      await judge(page, screenshot)
    }
  })

  test('a fault is set and cleared by its button, and an order is replayed into a linked one', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    await at.open(page, '/sandbox')
    const button = page.getByRole('button', { name: 'Refuse the next order', exact: true })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Refuse the next order', exact: true, pressed: true }).waitFor()
    const refused = await at.trader.buy()
    assert.deepEqual([refused.normalized_status, refused.broker_message], ['rejected', 'Refused by an operator.'])
    await page.getByRole('button', { name: 'Refuse the next order', exact: true, pressed: false }).waitFor()
    await at.open(page, `/orders/${refused.order_id}`)
    await page.getByRole('button', { name: 'Replay in the sandbox' }).click()
    await page.getByText('A replay in the sandbox of order').waitFor()
    await page.getByText('Refused by an operator.').first().waitFor()
    await page.getByText('Steps of the original', { exact: true }).click()
    await page.locator('.waterfall').nth(1).waitFor()
    assert.equal(await page.locator('.waterfall').count(), 2)
    await page.getByRole('link', { name: refused.order_id }).first().click()
    await headed(page, `Order ${refused.cl_order_id}`)
    await page.getByText('Replayed in the sandbox:').waitFor()
  })

  test('without the scope, the page of the sandbox and the replay say what is needed', async () => {
    const { url } = await at.stage.operate('operator', 'link', '--scope', 'read')
    await using walk = await visit(at.browser, {}, { isHurried: true, refusals: NO_SESSION })
    const { page } = walk
    await page.goto(url.replace('/console/', '/console/sandbox'))
    await page.getByText('This page needs the scope').waitFor()
    await at.open(page, `/orders/${at.filled.order_id}`)
    assert.ok(await page.getByRole('button', { name: 'Replay in the sandbox' }).isDisabled())
    await page.getByText('It needs the scope').waitFor()
  })
})
