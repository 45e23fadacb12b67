// What the brokers have is read again, however long ago an order was placed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import { BrokerView } from './broker-view.ts'

/** The page of the newest orders has as many. */
const LATER = 100

test('an order that rested while a page of later ones came is shown as it is, not as it was', async () => {
  await using sandbox = await SandboxProcess.start(null)
  const login = await sandbox.login()
  const account = { broker: 'SANDBOX', connectionId: '', accountId: '', login, loginId: '', brokerAccount: '' } as const
  const limit = await sandbox.restingPrice(login, 'AAPL')
  const place = async (quantity: number) => {
    const ticket = { account: login.accounts[0]?.id, symbol: 'AAPL', direction: 'buy', kind: 'limit', lifetime: 'day', limit }
    const { order } = await sandbox.control('POST', '/orders', { login: login.username, ...ticket, quantity: String(quantity) })
    return order
  }
  const view = new BrokerView(sandbox)
  const stateOf = async (id: string) => {
    const { orders } = await view.read(account)
    return [...orders.values()].flat().find(order => order.id === id)?.state
  }

  const first = await place(1)
  assert.equal(await stateOf(first.id), 'open')
  for (let later = 0; later < LATER; later += 1) await place(later + 2)
  await sandbox.control('POST', `/orders/${first.id}/fill`, { quantity: '1' })
  assert.equal(await stateOf(first.id), 'done')
})
