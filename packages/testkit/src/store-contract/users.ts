// Platforms and users.
import assert from 'node:assert/strict'
import type { User } from '@trunkline/core/domain/account'
import type { PageRequest, Store } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'
import { assertPages, walk } from './walking.ts'

export function userCases(contractCase: DefineCase): void {
  contractCase('U10', 'a platform is found by its own id, and listed', async ({ store }) => {
    const platform = make.platform()
    await store.platforms.create(platform, make.hash(), make.audit())
    assert.deepEqual(await store.platforms.find(platform.platformId), platform)
    assert.ok((await store.platforms.list()).some(({ platformId }) => platformId === platform.platformId))
    assert.equal(await store.platforms.findByClientId('pk_unknown'), null)
    assert.equal(await store.platforms.find(make.uuid()), null)
  })

  contractCase(
    'U20',
    'of many who create a user of one name at once, one succeeds; another platform may have the name too',
    async ({ store }) => {
      const [one, other] = [make.platform(), make.platform()]
      for (const platform of [one, other]) await store.platforms.create(platform, make.hash(), make.audit())
      const same = Array.from({ length: 20 }, () => make.user(one, 'zoë 漢 🙂'))
      const created = await Promise.all(same.map(user => store.users.create(user, make.hash(), make.audit())))
      assert.equal(created.filter(Boolean).length, 1)
      const winner = same[created.indexOf(true)]
      const found = await store.users.find(one.platformId, make.user(one, 'zoë 漢 🙂').userId)
      assert.deepEqual(found?.user, winner)
      assert.equal(await store.users.create(make.user(other, 'zoë 漢 🙂'), make.hash(), make.audit()), true)
    }
  )

  contractCase('U30', 'a user is found by name and by key, with the newest hash; a lost one is null', async ({ store }) => {
    const { user, platform } = await make.owner(store)
    const hash = make.hash()
    assert.equal(await store.users.replaceSecret(user.userKey, hash, make.audit()), true)
    assert.deepEqual(await store.users.find(platform.platformId, user.userId), { user, secretHash: hash, disabledAt: null })
    assert.deepEqual(await store.users.findByKey(user.userKey), user)
    assert.equal(await store.users.find(make.uuid(), user.userId), null)
    assert.equal(await store.users.findByKey(make.uuid()), null)
    assert.equal(await store.users.replaceSecret(make.uuid(), hash, make.audit()), false)
  })

  contractCase('U35', 'of many users, those are found that are there and not disabled', async ({ store }) => {
    const [one, two, three] = [await make.owner(store), await make.owner(store), await make.owner(store)]
    const keys = [one, two, three].map(({ user }) => user.userKey)
    assert.deepEqual(await store.users.enabledOf([...keys, make.uuid()]), new Set(keys))
    await store.users.setDisabled(one.user.userKey, make.at(1), make.audit())
    await store.users.remove(two.user.userKey, make.at(2), make.audit())
    assert.deepEqual(await store.users.enabledOf(keys), new Set([three.user.userKey]))
    await store.users.setDisabled(one.user.userKey, null, make.audit())
    assert.deepEqual(await store.users.enabledOf(keys.slice(0, 1)), new Set(keys.slice(0, 1)))
    assert.deepEqual(await store.users.enabledOf([]), new Set())
  })

  contractCase('U40', 'every filter of the list finds its user and no other', async ({ store }) => {
    const { platform, ...first } = await make.owner(store)
    const second = await make.owner(store, { platform, accounts: 2 })
    const [, extra] = second.accounts
    const otherOwner = await make.owner(store)
    const list = async (filter: Parameters<Store['users']['list']>[1]) =>
      (await store.users.list(platform.platformId, filter, 'createdAt', { limit: 10, edge: null, descending: false })).rows
    const both = [first.user, second.user].sort((a, b) => (a.userKey < b.userKey ? -1 : 1))
    assert.deepEqual(await list({}), both)
    assert.deepEqual(await list({ userId: second.user.userId }), [second.user])
    assert.deepEqual(await list({ accountNumber: 'A-2' }), [second.user])
    assert.deepEqual(await list({ accountNumber: 'A-1' }), both)
    assert.deepEqual(await list({ accountId: first.account.accountId }), [first.user])
    assert.ok(extra !== undefined)
    assert.deepEqual(await list({ accountId: extra.accountId, accountNumber: 'A-1' }), [])
    assert.deepEqual(await list({ connectionId: first.connection.connectionId }), [first.user])
    assert.deepEqual(await list({ connectionId: otherOwner.connection.connectionId }), [])
    assert.deepEqual(await list({ createdFrom: make.at(0), createdTo: make.at(0) }), both)
    assert.deepEqual(await list({ createdFrom: make.at(0.001) }), [])
    assert.deepEqual(await list({ createdTo: make.at(-0.001) }), [])
    assert.deepEqual(
      await list({ createdFrom: make.time('0000-01-01T00:00:00Z'), createdTo: make.time('9999-12-31T23:59:59.999999Z') }),
      both
    )
  })

  contractCase('U50', 'pages of users neither skip nor repeat, in both sorts, orders and directions, ties included', async ({ store }) => {
    const platform = make.platform()
    await store.platforms.create(platform, make.hash(), make.audit())
    const users: User[] = Array.from({ length: 23 }, (_, index) =>
      make.user(platform, `u${(index * 7) % 23}-é`, make.at(Math.floor(index / 4)))
    )
    for (const user of users) await store.users.create(user, make.hash(), make.audit())
    for (const sort of ['createdAt', 'userId'] as const) {
      const key = (user: User): string => `${sort === 'createdAt' ? user.createdAt : user.userId} ${user.userKey}`
      for (const descending of [false, true]) {
        const expected = users.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
        if (descending) expected.reverse()
        const page = (request: PageRequest) => store.users.list(platform.platformId, {}, sort, request)
        assertPages(await walk(page, { limit: 4, descending }), expected)
      }
    }
  })
}
