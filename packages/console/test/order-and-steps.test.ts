import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../src/api.ts'
import type { OperatorOrder, OrderSteps } from '../src/generated/admin.ts'
import { orderAndSteps } from '../src/order-and-steps.ts'

const refusal = (status: number, code = 'x') => new Refusal('No.', { status, code, requestId: null, retryAfterSeconds: null })

/** An order that has the given revisions, one at each read, and steps that say at which read they were taken. */
function changing(revisions: readonly number[]) {
  let reads = 0
  const readOrder = async () => ({ revision: revisions[reads++] ?? revisions.at(-1) }) as OperatorOrder
  const readSteps = async (): Promise<OrderSteps> => ({ data: [], replays: [], incomplete: `after ${reads} reads of the order` })
  return { readOrder, readSteps, reads: () => reads }
}

test('the record and the steps are of one revision', async () => {
  const { readOrder, readSteps } = changing([4, 5, 5])
  const { order, steps, isChanging } = await orderAndSteps(readOrder, readSteps)
  assert.deepEqual([order.revision, isChanging, steps], [5, false, { data: [], replays: [], incomplete: 'after 2 reads of the order' }])
})

test('an order that changes during each read is named as such, and is not read for ever', async () => {
  const { readOrder, readSteps, reads } = changing([1, 2, 3, 4, 5, 6])
  const { order, isChanging } = await orderAndSteps(readOrder, readSteps)
  assert.deepEqual([order.revision, isChanging, reads()], [4, true, 4])
})

test('the record is there without steps that are refused, but not without a session', async () => {
  const { readOrder } = changing([1])
  const unavailable = refusal(503)
  assert.equal((await orderAndSteps(readOrder, () => Promise.reject(unavailable))).steps, unavailable)
  await assert.rejects(
    orderAndSteps(readOrder, () => Promise.reject(refusal(401, 'credentials_invalid'))),
    error => error instanceof Refusal && error.status === 401
  )
  await assert.rejects(
    orderAndSteps(() => Promise.reject(refusal(404)), changing([1]).readSteps),
    error => error instanceof Refusal && error.status === 404
  )
})
