// Claims to refresh credentials: one of many, for a limited time, and what later callers receive.
import assert from 'node:assert/strict'
import type { RefreshClaim } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

const LIFE = 30

/** A claim `ms` milliseconds into the test. */
function claimOf(holder: string, ms: number, revision = 1): RefreshClaim {
  return { revision, holder, at: make.at(ms), until: make.at(ms + LIFE) }
}

export function refreshCases(contractCase: DefineCase): void {
  contractCase('C82', 'one of many on all nodes may refresh, until it gives the right back', async ({ store, beside }) => {
    const { connectionId } = (await make.owner(store)).connection
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? store : beside).connections.claimRefresh(connectionId, claimOf(`h${index}`, 1))
      )
    )
    const winner = all.findIndex(({ kind }) => kind === 'taken')
    assert.deepEqual(all[winner], { kind: 'taken', mayBeSpent: false })
    for (const [index, claimed] of all.entries())
      if (index !== winner) assert.deepEqual(claimed, { kind: 'held', until: make.at(1 + LIFE) })
    // A holder cannot release another's claim.
    await beside.connections.releaseRefresh(connectionId, claimOf('other', 1), false)
    assert.equal((await beside.connections.claimRefresh(connectionId, claimOf('next', 2))).kind, 'held')
    assert.deepEqual(await store.connections.claimRefresh(connectionId, claimOf(`h${winner}`, 3)), { kind: 'taken', mayBeSpent: false })
    await store.connections.releaseRefresh(connectionId, claimOf(`h${winner}`, 3), false)
    assert.deepEqual(await beside.connections.claimRefresh(connectionId, claimOf('next', 4)), { kind: 'taken', mayBeSpent: false })
  })

  contractCase(
    'C84',
    'the right of a node that died ends by itself, and what it left unanswered is reported until there is an answer',
    async ({ store, beside }) => {
      const { connectionId } = (await make.owner(store)).connection
      await store.connections.claimRefresh(connectionId, claimOf('dead', 1))
      assert.equal((await beside.connections.claimRefresh(connectionId, claimOf('b', LIFE))).kind, 'held')
      assert.deepEqual(await beside.connections.claimRefresh(connectionId, claimOf('b', LIFE + 1)), { kind: 'taken', mayBeSpent: true })
      await beside.connections.releaseRefresh(connectionId, claimOf('b', LIFE + 1), true)
      for (const holder of ['b', 'c']) {
        assert.deepEqual(await store.connections.claimRefresh(connectionId, claimOf(holder, LIFE + 2)), { kind: 'taken', mayBeSpent: true })
        await store.connections.releaseRefresh(connectionId, claimOf(holder, LIFE + 2), true)
      }
      await store.connections.replaceCredentials(connectionId, 1, make.sealed(2))
      assert.deepEqual(await beside.connections.claimRefresh(connectionId, claimOf('d', LIFE + 3, 2)), { kind: 'taken', mayBeSpent: false })
    }
  )

  contractCase('C86', 'nothing is claimed of credentials that are no longer the newest, or gone', async ({ store, beside }) => {
    const { connection } = await make.owner(store)
    const { connectionId } = connection
    await store.connections.claimRefresh(connectionId, claimOf('a', 1))
    await store.connections.replaceCredentials(connectionId, 1, make.sealed(2))
    assert.deepEqual(await beside.connections.claimRefresh(connectionId, claimOf('b', 2)), { kind: 'moved' })
    assert.deepEqual(await beside.connections.claimRefresh(connectionId, claimOf('b', 2, 2)), { kind: 'taken', mayBeSpent: false })
    // A late release by an earlier holder: it does not end the present claim.
    await store.connections.releaseRefresh(connectionId, claimOf('a', 1), true)
    assert.equal((await store.connections.claimRefresh(connectionId, claimOf('c', 3, 2))).kind, 'held')
    assert.deepEqual(await store.connections.claimRefresh(make.uuid(), claimOf('a', 1)), { kind: 'moved' })
    await store.connections.remove(connectionId, make.at(9), make.audit())
    assert.deepEqual(await beside.connections.claimRefresh(connectionId, claimOf('d', 4, 2)), { kind: 'moved' })
  })

  contractCase('C88', 'a right from before a clock was set back does not block', async ({ store, beside }) => {
    const { connectionId } = (await make.owner(store)).connection
    await store.connections.claimRefresh(connectionId, claimOf('a little ahead', 1 + LIFE))
    assert.equal((await beside.connections.claimRefresh(connectionId, claimOf('b', 1))).kind, 'held')
    await store.connections.claimRefresh(connectionId, claimOf('a little ahead', 2 + LIFE))
    assert.deepEqual(await beside.connections.claimRefresh(connectionId, claimOf('b', 1)), { kind: 'taken', mayBeSpent: true })
  })
}
