// What every store must do: numbered cards that run against each engine. The numbers are spaced, so that a card can be put between.
import { after, before, suite, test } from 'node:test'
import type { Store } from '@trunkline/core/ports/store'
import { accountCards } from './accounts.ts'
import { attemptCards } from './attempts.ts'
import { auditCards } from './audit.ts'
import { connectionCards } from './connections.ts'
import { eventCards } from './events.ts'
import { lifecycleCards } from './lifecycle.ts'
import { orderListCards } from './order-lists.ts'
import { orderCards } from './orders.ts'
import { platformKeyCards } from './platform-keys.ts'
import { streamPlaceCards } from './stream-places.ts'
import { tokenCards } from './tokens.ts'
import { userCards } from './users.ts'

/** A store under test, and a way past it. */
export interface StoreHarness extends AsyncDisposable {
  readonly store: Store
  /** Another store on the same database, as another node has it; the same one where a database has but one process. */
  readonly beside: Store
  /** Runs a statement on the store's database behind its back. */
  sql(text: string, parameters?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
}

/** Defines a card. All cards of a run share one store and make their own platforms and users. */
export type Card = (id: string, title: string, run: (harness: StoreHarness) => Promise<void>) => void

export function storeContract(name: string, open: () => Promise<StoreHarness>): void {
  suite(`store contract on ${name}`, () => {
    let harness: StoreHarness | undefined
    before(async () => {
      harness = await open()
    })
    after(() => harness?.[Symbol.asyncDispose]())
    const ids = new Set<string>()
    const card: Card = (id, title, run) => {
      if (ids.has(id)) throw new Error(`two cards of the store contract are ${id}`)
      ids.add(id)
      return test(`${id}: ${title}`, async () => {
        if (harness === undefined) throw new Error('the store was not opened')
        await run(harness)
      })
    }
    userCards(card)
    platformKeyCards(card)
    attemptCards(card)
    connectionCards(card)
    accountCards(card)
    orderCards(card)
    orderListCards(card)
    eventCards(card)
    streamPlaceCards(card)
    tokenCards(card)
    auditCards(card)
    // Last: it closes the store.
    lifecycleCards(card)
  })
}
