// Refused changes and executions: what is not written is not counted, and what is written can be summed.
import assert from 'node:assert/strict'
import type { ChangeResult, OrderChange, Store } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

export function refusedOrderCases(contractCase: DefineCase): void {
  contractCase('O120', 'what is refused is not counted, alone or beside others, not even the first of a user', async ({ store }) => {
    const [who, other] = [await make.owner(store), await make.owner(store)]
    const { userKey } = who.user
    const foreign = () => make.created(make.order({ ...who, account: other.account }))
    assert.deepEqual(await one(store, foreign()), { kind: 'stale' })
    assert.deepEqual(await store.events.span(userKey), { oldest: 1, last: 0 })
    await Promise.all([foreign(), foreign(), make.created(make.order(other))].map(change => one(store, change)))
    assert.deepEqual(await store.events.span(userKey), { oldest: 1, last: 0 })
    const order = make.order(who)
    const results = await Promise.all([foreign(), make.created(order), foreign()].map(change => one(store, change)))
    assert.deepEqual(results.map(seqOf), [null, 1, null])
    assert.deepEqual(await one(store, make.moved({ ...order, revision: 7 }, { status: 'working' })), { kind: 'stale' })
    assert.equal(seqOf(await one(store, make.moved(order, { status: 'working' }))), 2)
    assert.deepEqual(await store.events.span(userKey), { oldest: 1, last: 2 })
  })

  contractCase.sql(
    'O125',
    'who sums executions finds each once, with those of legs and without what is inferred',
    async ({ store, sql }) => {
      const who = await make.owner(store)
      const side = { side: 'BUY', ratio: make.decimal('1') } as const
      const legs = [
        { symbol: 'AAPL261218C00200000', ...side, fills: [] },
        { symbol: 'AAPL261218C00210000', ...side, fills: [make.fill('leg', '3.00')] }
      ]
      const fills = [make.fill('odd \0 id', '1.50'), make.fill('guess', '1.00', { inferred: true })]
      const order = make.order(who, { symbol: null, legs, fills })
      await one(store, make.created(order))
      const found = await sql('select leg::int, fill_id, quantity::text, exec_dest from fills where order_id = $1 order by leg', [
        order.orderId
      ])
      assert.deepEqual(found, [
        { leg: 0, fill_id: 'odd \ufffd id', quantity: '1.50', exec_dest: 'XNAS' },
        { leg: 2, fill_id: 'leg', quantity: '3.00', exec_dest: 'XNAS' }
      ])
    }
  )
}

async function one(store: Store, change: OrderChange): Promise<ChangeResult> {
  const [result] = await store.orders.record([change])
  assert.ok(result !== undefined)
  return result
}

function seqOf(result: ChangeResult): number | null {
  return result.kind === 'recorded' ? (result.event?.seq ?? null) : null
}
