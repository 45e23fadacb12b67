// The store contract: numbered cases that run against each engine, spaced so that others can be inserted.
import { after, before, suite, test } from 'node:test'
import { accountCases } from './accounts.ts'
import { attemptCases } from './attempts.ts'
import { auditCases } from './audit.ts'
import { connectionCases } from './connections.ts'
import { eventCases } from './events.ts'
import type { DefineCase, StoreHarness } from './harness.ts'
import { lifecycleCases } from './lifecycle.ts'
import { orderListCases } from './order-lists.ts'
import { orderCases } from './orders.ts'
import { platformKeyCases } from './platform-keys.ts'
import { refusedOrderCases } from './refused-orders.ts'
import { streamSlotCases } from './stream-slots.ts'
import { tokenCases } from './tokens.ts'
import { userCases } from './users.ts'
import { webhookCases } from './webhooks.ts'

export function storeContract(name: string, open: () => Promise<StoreHarness>, has: { readonly sql: boolean } = { sql: true }): void {
  suite(`store contract on ${name}`, () => {
    let harness: StoreHarness | undefined
    before(async () => {
      harness = await open()
    })
    after(() => harness?.[Symbol.asyncDispose]())
    const ids = new Set<string>()
    const define = (id: string, title: string, run: (harness: StoreHarness) => Promise<void>) => {
      if (ids.has(id)) throw new Error(`two cases of the store contract are ${id}`)
      ids.add(id)
      return test(`${id}: ${title}`, async () => {
        if (harness === undefined) throw new Error('the store was not opened')
        await run(harness)
      })
    }
    const onSql: DefineCase['sql'] = (id, title, run) => {
      if (!has.sql) return
      define(id, title, async given => {
        const { sql } = given
        if (sql === null) throw new Error('the store has no database to look at')
        await run({ ...given, sql })
      })
    }
    const contractCase: DefineCase = Object.assign(define, { sql: onSql })
    userCases(contractCase)
    platformKeyCases(contractCase)
    attemptCases(contractCase)
    connectionCases(contractCase)
    accountCases(contractCase)
    orderCases(contractCase)
    refusedOrderCases(contractCase)
    orderListCases(contractCase)
    eventCases(contractCase)
    streamSlotCases(contractCase)
    tokenCases(contractCase)
    auditCases(contractCase)
    webhookCases(contractCase)
    // Last: it closes the store.
    lifecycleCases(contractCase)
  })
}
