// What every store must do: numbered cases that run against each engine. The numbers are spaced, so that a case can be put between.
import { after, before, suite, test } from 'node:test'
import type { Store } from '@trunkline/core/ports/store'
import { accountCases } from './accounts.ts'
import { attemptCases } from './attempts.ts'
import { auditCases } from './audit.ts'
import { connectionCases } from './connections.ts'
import { eventCases } from './events.ts'
import { lifecycleCases } from './lifecycle.ts'
import { orderListCases } from './order-lists.ts'
import { orderCases } from './orders.ts'
import { platformKeyCases } from './platform-keys.ts'
import { streamSlotCases } from './stream-slots.ts'
import { tokenCases } from './tokens.ts'
import { userCases } from './users.ts'

/** A store under test, and a way past it. */
export interface StoreHarness extends AsyncDisposable {
  readonly store: Store
  /** Another store on the same database, as another node has it; the same one where a database has but one process. */
  readonly beside: Store
  /** Runs a statement on the store's database behind its back. */
  sql(text: string, parameters?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
}

/** Defines a case. All cases of a run share one store and create their own platforms and users. */
export type DefineCase = (id: string, title: string, run: (harness: StoreHarness) => Promise<void>) => void

export function storeContract(name: string, open: () => Promise<StoreHarness>): void {
  suite(`store contract on ${name}`, () => {
    let harness: StoreHarness | undefined
    before(async () => {
      harness = await open()
    })
    after(() => harness?.[Symbol.asyncDispose]())
    const ids = new Set<string>()
    const contractCase: DefineCase = (id, title, run) => {
      if (ids.has(id)) throw new Error(`two cases of the store contract are ${id}`)
      ids.add(id)
      return test(`${id}: ${title}`, async () => {
        if (harness === undefined) throw new Error('the store was not opened')
        await run(harness)
      })
    }
    userCases(contractCase)
    platformKeyCases(contractCase)
    attemptCases(contractCase)
    connectionCases(contractCase)
    accountCases(contractCase)
    orderCases(contractCase)
    orderListCases(contractCase)
    eventCases(contractCase)
    streamSlotCases(contractCase)
    tokenCases(contractCase)
    auditCases(contractCase)
    // Last: it closes the store.
    lifecycleCases(contractCase)
  })
}
