// The store as a whole. The last case closes it.
import assert from 'node:assert/strict'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

export function lifecycleCases(contractCase: DefineCase): void {
  contractCase('Z10', 'a probe resolves while writes can be made durable', async ({ store }) => {
    await Promise.all(Array.from({ length: 10 }, () => store.probe()))
  })

  contractCase(
    'Z20',
    'what was requested before closing is done, what is requested after is refused, and closing again changes nothing',
    async ({ store }) => {
      const who = await make.owner(store)
      const writes = Array.from({ length: 30 }, () => store.orders.record([make.created(make.order(who))]))
      await new Promise(setImmediate)
      const closing = store[Symbol.asyncDispose]()
      const results = (await Promise.all(writes)).flat()
      assert.ok(results.every(({ kind }) => kind === 'recorded'))
      await closing
      await store[Symbol.asyncDispose]()
      const refused: readonly (() => Promise<unknown>)[] = [
        () => store.probe(),
        () => store.orders.record([make.created(make.order(who))]),
        () => store.orders.find(make.uuid()),
        () => store.users.create(who.user, make.hash(), make.audit()),
        () => store.accounts.putBalances(who.account, []),
        () => store.audit.seal(1),
        () => store.events.read(who.user.userKey, 0, 1),
        () => store.events.span(who.user.userKey),
        () => store.events.prune(make.at(0), 1),
        () => store.streamSlots.take(make.slot(who.platform), 1, 1_000)
      ]
      for (const ask of refused) await assert.rejects(ask(), StoreUnavailable)
    }
  )
}
