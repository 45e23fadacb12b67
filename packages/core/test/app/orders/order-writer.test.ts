// The cache of orders must not reveal who has which: look-ups are counted, because time is not measurable on a busy machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OrderWriter } from '@trunkline/core/app/execution/order-writer'
import type { OrderId, UserKey } from '@trunkline/core/domain/ids'

const [ADA, BEN] = ['ada' as UserKey, 'ben' as UserKey]
const [KNOWN, UNKNOWN] = ['known' as OrderId, 'unknown' as OrderId]

test('a look-up of another user’s order costs the same as one of an unknown order, even if it is cached [S26]', async () => {
  let lookUps = 0
  const find = async (orderId: OrderId) => {
    lookUps += 1
    return orderId === KNOWN ? { orderId, userKey: ADA, accountId: 'account', revision: 1 } : null
  }
  const orderWriter = new OrderWriter(Object({ store: { orders: { find } } }))
  const costOf = async (userKey: UserKey, orderId: OrderId) => {
    const before = lookUps
    const found = await orderWriter.findOf(userKey, orderId)
    return [found?.orderId ?? null, lookUps - before]
  }
  await orderWriter.change(KNOWN, () => null)
  assert.deepEqual(await costOf(ADA, KNOWN), [KNOWN, 0], 'it is remembered')
  assert.deepEqual(await costOf(BEN, UNKNOWN), [null, 1])
  assert.deepEqual(await costOf(BEN, KNOWN), [null, 1])
})
