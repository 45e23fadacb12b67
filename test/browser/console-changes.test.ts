// What operators change in the console, and what they do in the sandbox: by keyboard, and with answers that are lost.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Body } from '../acceptance/api.ts'
import { WebhookReceiver } from '../acceptance/webhook-receiver.ts'
import { headed, judge, NO_SESSION, read, SharedConsole } from './console-stage.ts'
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
    const copying = await dialog.getByRole('button', { name: /^Copy secret / }).getAttribute('aria-label')
    const secret = copying?.slice('Copy secret '.length) ?? ''
    assert.match(secret, /^whsec_/)
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
      ['/orders', 'End several as never received…', 'dialog-orders'],
      ['/sandbox', 'Set another fault…', 'dialog-fault'],
      ['/sandbox', 'Disturb streams…', 'dialog-streams']
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
    const dialog = page.getByRole('dialog')
    const refused = await at.trader.buy()
    assert.deepEqual([refused.normalized_status, refused.broker_message], ['rejected', 'Refused by an operator.'])
    await page.getByRole('button', { name: 'Refuse the next order', exact: true, pressed: false }).waitFor()
    await at.open(page, `/orders/${refused.order_id}`)
    await page.getByRole('button', { name: 'Replay in the sandbox…' }).click()
    await dialog.getByText('Prices of the whole sandbox pause').waitFor()
    await dialog.getByRole('button', { name: 'Replay it' }).click()
    await dialog.getByRole('link', { name: 'Show the new order' }).click()
    await page.getByText('A replay in the sandbox of order').waitFor()
    assert.equal(await dialog.count(), 0)
    await page.getByText('Refused by an operator.').first().waitFor()
    await page.getByText('Steps of the original', { exact: true }).click()
    await page.locator('.waterfall').nth(1).waitFor()
    assert.equal(await page.locator('.waterfall').count(), 2)
    await page.getByRole('link', { name: refused.order_id }).first().click()
    await headed(page, `Order ${refused.cl_order_id}`)
    await page.getByText('Replayed in the sandbox:').waitFor()
    await page.locator('.waterfall > li').first().waitFor()
    assert.equal(await page.locator('.waterfall').getByText('order.replay').count(), 0, 'the steps end with the order')
    // The platform of replays is there now, and the other one still needs no choice.
    await at.open(page, '/users')
    await page.getByRole('link', { name: at.trader.userId, exact: true }).waitFor()
    assert.equal(await page.getByLabel('Platform').locator('option').count(), 3)
  })

  test('a fault that stays asks once: nothing is sent before, and its button clears it', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true })
    const { page } = walk
    const sent: string[] = []
    page.on('request', request => {
      if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`)
    })
    await at.open(page, '/sandbox')
    const dialog = page.getByRole('dialog')
    const button = page.getByRole('button', { name: 'Unreadable positions' })
    await button.click()
    await dialog.getByText('until it is cleared').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(sent.length, 0)
    await button.click()
    await dialog.getByRole('button', { name: 'Set the fault' }).click()
    await dialog.getByText('It is set: spoil').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Unreadable positions', pressed: true }).click()
    await page.getByText('Cleared: Unreadable positions.').waitFor()
    assert.deepEqual(
      sent.map(each => each.replace(/fault-\d+$/, 'N')),
      ['POST /admin/v1/sandbox/faults', 'DELETE /admin/v1/sandbox/faults/N']
    )
  })

  test('the page of the sandbox has what the API has: a book, a dividend, an order, streams, users and tokens', async () => {
    await using walk = await at.loggedIn({}, { isHurried: true, refusals: /^400: .*\/sandbox\/(streams|price)$/ })
    const { page } = walk
    const dialog = page.getByRole('dialog')
    /** Opens a dialog, fills its fields, and confirms. */
    const ask = async (button: string, fields: Readonly<Record<string, string>>, confirm: string) => {
      await page.getByRole('button', { name: button, exact: true }).click()
      for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value)
      await dialog.getByRole('button', { name: confirm, exact: true }).click()
    }
    const close = () => dialog.getByRole('button', { name: 'Close' }).click()
    const resting = await at.trader.rest()
    await at.open(page, '/sandbox')
    await page.getByLabel('Symbol', { exact: true }).fill('aapl')
    await page.getByRole('button', { name: 'Show its price' }).click()
    await ask('Show a book…', { 'Bids, the best first': '100.02 x 5', 'Asks, the best first': '100.01 x 5' }, 'Show it')
    await dialog.getByText('bids must be below all asks, was 100.02 with an ask of 100.01').waitFor()
    await close()
    await ask('Pay a dividend…', { 'Per share, in US dollars': '0.25' }, 'Pay a dividend')
    await dialog.getByText('0.25 per share was paid to').waitFor()
    await close()

    const { data: steps } = await read(page, `/orders/${resting.order_id}/steps`)
    const { broker_cl_ord_id: id } = steps.find(({ step }: Body) => step === 'sent')
    await page.getByLabel('Id that the broker was sent').fill(id)
    await page.getByRole('button', { name: 'Find the order' }).click()
    const order = page.getByRole('region', { name: 'Table of orders' })
    await order.getByRole('button', { name: /^Fill / }).click()
    await dialog.getByLabel('Quantity').fill('1')
    await dialog.getByRole('button', { name: 'Fill', exact: true }).click()
    await dialog.getByText(/: filled 1, remaining /).waitFor()
    await close()
    await order.getByRole('cell').getByText('partial', { exact: true }).waitFor()
    await order.getByRole('button', { name: /^Cancel / }).click()
    await dialog.getByRole('button', { name: 'Cancel the order' }).click()
    await dialog.getByText('The order is cancelled: filled 1').waitFor()
    await close()

    const drop = { 'Practice user (empty: everybody)': at.trader.userId }
    await ask('Disturb streams…', { ...drop, 'Close code (drop; empty: the connection is cut)': '1006' }, 'Do it')
    await dialog.getByText('code must be a code that a socket can be closed with').waitFor()
    await close()
    await ask('Disturb streams…', drop, 'Do it')
    await dialog.getByText(/^It was done to \d+ streams?\.$/).waitFor()
    await close()

    await ask('Create a practice user…', { Username: 'shown' }, 'Create a practice user')
    await dialog.getByText(/ crypto$/).waitFor()
    await close()
    await ask('Add an account to shown', { 'Cash, in US dollars': '5' }, 'Add an account')
    await dialog.getByText(/crypto, SB\d+ margin$/).waitFor()
    await close()
    await ask('End grants of shown', {}, 'End grants')
    await dialog.getByText('0 grants have ended.').waitFor()
    await close()
    await ask('Set how long tokens live…', { 'Access tokens, in seconds': '600' }, 'Set how long tokens live')
    await dialog.getByText('600 s').waitFor()
    await close()
    await page.getByRole('region', { name: 'Table of operations' }).getByText('orders.submit', { exact: true }).waitFor()
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
