// For whom operators trade: the connections that decide where an order goes are those that are checked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PractisingUsers, practisingUser } from '@trunkline/core/app/operators/practising-user'
import { tradableAccount } from '@trunkline/core/app/orders/tradable'
import type { BrokerEndpoint } from '@trunkline/core/domain/account'
import type { Owner } from '@trunkline/core/ports/ownership'
import * as make from '@trunkline/testkit/store-contract/records'

const SANDBOX: BrokerEndpoint = { environment: 'sandbox', host: 'localhost' }
const OPERATOR = { operator: 'ada@host', scopes: ['sandbox'], session: null, ip: '192.0.2.7', requestId: 'r-1' } as const

/** A user with connections to these places, over a store that lists what `places` holds at that moment. */
function practising(places: (BrokerEndpoint | null)[]) {
  const platform = make.platform()
  const user = make.user(platform)
  const owner: { is: Owner; isEnabled: boolean; disabled: ReadonlyMap<string, string> } = {
    is: { kind: 'this' },
    isEnabled: true,
    disabled: new Map()
  }
  const [first] = [make.connection(user)]
  const account = make.account(first)
  const store = {
    connections: { listByUser: async () => places.map((endpoint, at) => ({ ...(at === 0 ? first : make.connection(user)), endpoint })) },
    accounts: { listByUser: async () => [account] },
    users: {
      findByKey: async () => user,
      enabledOf: async () => new Set(owner.isEnabled ? [user.userKey] : [])
    },
    platforms: { find: async () => platform, disabled: async () => owner.disabled }
  }
  let ms = 0
  const clock = { monotonicMs: () => (ms += 10_000) }
  const directory = new PractisingUsers(Object({ store, clock, bus: { subscribe: () => () => undefined } }))
  const deps = { store: Object(store), directory, ownership: Object({ ownerOf: () => owner.is }) }
  return { places, owner, platform, user, account, directory, allowed: () => practisingUser(deps, OPERATOR, user.userKey) }
}

test('a user with connections to the sandbox only is acted for, in the operator’s name', async () => {
  const { allowed, user, platform } = practising([SANDBOX, SANDBOX])
  assert.deepEqual(await allowed(), { platform, user, operator: 'ada@host', ip: '192.0.2.7', requestId: 'r-1' })
  assert.equal((await practising([]).allowed()).operator, 'ada@host')
})

test('one connection elsewhere, or at a place that was not recorded, is too many', async () => {
  for (const [endpoint, why] of [
    [{ environment: 'paper', host: 'a' }, /is paper/],
    [{ environment: 'live', host: 'a' }, /is live/],
    [null, /before its environment was recorded/]
  ] as const)
    await assert.rejects(practising([SANDBOX, endpoint]).allowed(), { code: 'user_not_tradable', message: why })
})

test('who is disabled, or whom another node trades for, is not acted for', async () => {
  const { allowed, owner, platform } = practising([SANDBOX])
  owner.isEnabled = false
  await assert.rejects(allowed(), { code: 'user_not_tradable', message: /This one is disabled/ })
  owner.isEnabled = true
  owner.disabled = new Map([[platform.platformId, 'now']])
  await assert.rejects(allowed(), { code: 'user_not_tradable', message: /The platform of this one is disabled/ })
  owner.disabled = new Map()
  owner.is = { kind: 'none' }
  await assert.rejects(allowed(), { code: 'broker_unavailable' })
})

test('a connection that is made after the check keeps the order from its account', async () => {
  const { allowed, places, account, directory } = practising([SANDBOX])
  const caller = await allowed()
  const order = () => tradableAccount(Object({ directory }), caller, account.accountId, account.broker)
  places.push({ environment: 'live', host: 'api.broker.example' })
  await assert.rejects(order, { code: 'user_not_tradable' })
})
