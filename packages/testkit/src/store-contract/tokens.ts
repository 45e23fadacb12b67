// Market data tokens.
import assert from 'node:assert/strict'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

export function tokenCases(contractCase: DefineCase): void {
  contractCase('T10', 'a newer token supersedes the older ones of its user and connection, and no others', async ({ store }) => {
    const who = await make.owner(store)
    const elsewhere = { ...who, ...(await make.connected(store, who.user)) }
    const [old, other, newer] = [make.token(who), make.token(elsewhere), make.token(who, make.at(5))]
    for (const token of [old, other, newer]) await store.tokens.create(token, make.audit())
    assert.deepEqual(await store.tokens.find(old.tokenHash), { ...old, supersededAt: make.at(5) })
    assert.deepEqual(await store.tokens.find(other.tokenHash), other)
    assert.deepEqual(await store.tokens.find(newer.tokenHash), newer)
    assert.equal(await store.tokens.find(make.hash()), null)
  })

  contractCase('T20', 'of tokens made at once exactly one is the newest', async ({ store }) => {
    const who = await make.owner(store)
    const tokens = Array.from({ length: 15 }, (_, index) => make.token(who, make.at(index)))
    await Promise.all(tokens.map(token => store.tokens.create(token, make.audit())))
    const found = await Promise.all(tokens.map(({ tokenHash }) => store.tokens.find(tokenHash)))
    assert.equal(found.filter(token => token?.supersededAt === null).length, 1)
  })

  contractCase(
    'T25',
    'a new secret erases the user’s tokens, and none is made for an old one, nor for what is deleted',
    async ({ store }) => {
      const who = await make.owner(store)
      const elsewhere = { ...who, ...(await make.connected(store, who.user)) }
      const [bystander, hash] = [await make.owner(store), make.hash()]
      const [one, two, remaining] = [make.token(who), make.token(elsewhere), make.token(bystander)]
      for (const token of [one, two, remaining]) assert.equal(await store.tokens.create(token, make.audit()), true)
      assert.equal(await store.users.replaceSecret(who.user.userKey, hash, make.audit()), true)
      for (const { tokenHash } of [one, two]) assert.equal(await store.tokens.find(tokenHash), null)
      assert.deepEqual(await store.tokens.find(remaining.tokenHash), remaining)
      const late = make.token(who)
      assert.equal(await store.tokens.create(late, make.audit(), make.hash()), false)
      assert.equal(await store.tokens.find(late.tokenHash), null)
      assert.equal(await store.tokens.create(late, make.audit(), hash), true)
      await store.connections.remove(elsewhere.connection.connectionId, make.at(0), make.audit())
      assert.equal(await store.tokens.create(make.token(elsewhere), make.audit(), hash), false)
      await store.users.remove(who.user.userKey, make.at(0), make.audit())
      assert.equal(await store.tokens.create(make.token(who), make.audit()), false)
    }
  )

  contractCase.sql('T27', 'a token that outlived the disabling of its user or platform is not found', async ({ store, sql }) => {
    const who = await make.owner(store)
    const token = make.token(who)
    await store.tokens.create(token, make.audit())
    for (const [table, column, key] of [
      ['users', 'user_key', who.user.userKey],
      ['platforms', 'platform_id', who.platform.platformId]
    ] as const) {
      // Not by the store, which erases the tokens with it.
      await sql(`update ${table} set disabled_at = now() where ${column} = $1`, [key])
      assert.equal(await store.tokens.find(token.tokenHash), null, table)
      await sql(`update ${table} set disabled_at = null where ${column} = $1`, [key])
      assert.deepEqual(await store.tokens.find(token.tokenHash), token)
    }
  })

  contractCase('T28', 'several tokens are found as each alone: those of a disabled user are not', async ({ store }) => {
    const [who, disabled] = [await make.owner(store), await make.owner(store)]
    const tokens = [make.token(who), make.token(disabled)]
    for (const token of tokens) await store.tokens.create(token, make.audit())
    const hashes = [...tokens.map(({ tokenHash }) => tokenHash), make.hash()]
    assert.deepEqual([...(await store.tokens.findAll(hashes)).keys()].toSorted(), hashes.slice(0, 2).toSorted())
    await store.users.setDisabled(disabled.user.userKey, make.at(1), make.audit())
    const [known] = tokens
    assert.deepEqual([...(await store.tokens.findAll(hashes)).values()], [await store.tokens.find(known?.tokenHash ?? '')])
    assert.equal((await store.tokens.findAll([])).size, 0)
  })

  contractCase('T30', 'pruning takes the expired tokens', async ({ store }) => {
    const who = await make.owner(store)
    const [expired, live] = [{ ...make.token(who), expiresAt: make.at(-5_000_000) }, make.token(who)]
    for (const token of [expired, live]) await store.tokens.create(token, make.audit())
    assert.equal(await store.tokens.prune(make.at(-5_000_000)), 0)
    assert.equal(await store.tokens.prune(make.at(-4_999_999)), 1)
    assert.equal(await store.tokens.find(expired.tokenHash), null)
    assert.notEqual(await store.tokens.find(live.tokenHash), null)
  })
}
