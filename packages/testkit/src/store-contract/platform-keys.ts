// Keys of platforms, and the effects of disabling a key, a platform or a user.
import assert from 'node:assert/strict'
import type { KeyId } from '@trunkline/core/domain/ids'
import { type PlatformKey, SCOPES } from '@trunkline/core/domain/platform-key'
import type { MarketDataToken, Store } from '@trunkline/core/ports/store'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

export function platformKeyCases(contractCase: DefineCase): void {
  contractCase(
    'K10',
    'the first key of a platform has its client id and every scope; further keys are found by theirs',
    async ({ store }) => {
      const platform = make.platform()
      const [first, second] = [make.hash(), make.hash()]
      await store.platforms.create(platform, first, make.audit())
      const found = await store.platforms.findByClientId(platform.clientId)
      assert.deepEqual([found?.platform, found?.secretHash, found?.previous, found?.isPlatformDisabled], [platform, first, null, false])
      assert.deepEqual([found?.key.keyId, found?.key.scopes, found?.key.addresses], [platform.platformId, SCOPES, []])
      const key = make.key(platform)
      await store.platformKeys.create(key, second, make.audit())
      const known = await store.platforms.findByClientId(key.clientId)
      assert.deepEqual(known, { platform, key, secretHash: second, previous: null, isPlatformDisabled: false })
      assert.deepEqual(
        (await store.platformKeys.list(platform.platformId)).map(({ clientId }) => clientId),
        [platform.clientId, key.clientId]
      )
      await store.platformKeys.used(key.keyId, make.at(7))
      assert.equal((await store.platforms.findByClientId(key.clientId))?.key.lastUsedAt, make.at(7))
    }
  )

  contractCase('K20', 'a replaced secret stays as long as is said, and the one before it goes', async ({ store }) => {
    const platform = make.platform()
    const [one, two, three] = [make.hash(), make.hash(), make.hash()]
    await store.platforms.create(platform, one, make.audit())
    const keyId = (await store.platforms.findByClientId(platform.clientId))?.key.keyId
    assert.ok(keyId !== undefined)
    const secrets = async () => {
      const known = await store.platforms.findByClientId(platform.clientId)
      return [known?.secretHash, known?.previous]
    }
    assert.equal(await store.platformKeys.replaceSecret(keyId, two, make.at(9), make.audit()), true)
    assert.deepEqual(await secrets(), [two, { secretHash: one, until: make.at(9) }])
    assert.equal(await store.platformKeys.replaceSecret(keyId, three, null, make.audit()), true)
    assert.deepEqual(await secrets(), [three, null])
    assert.equal(await store.platformKeys.replaceSecret(make.uuid(), three, null, make.audit()), false)
  })

  contractCase('K30', 'disabling a key, or revoking it, erases the tokens that were had with it and no others', async ({ store }) => {
    const who = await make.owner(store)
    const key = make.key(who.platform)
    await store.platformKeys.create(key, make.hash(), make.audit())
    const elsewhere = { ...who, ...(await make.connected(store, who.user)) }
    const [own, other] = [{ ...make.token(who), keyId: key.keyId }, make.token(elsewhere)]
    for (const token of [own, other]) await store.tokens.create(token, make.audit())
    assert.deepEqual(await alive(store, own, other), [true, true])
    assert.equal(await store.platformKeys.setDisabled(key.keyId, make.at(1), make.audit()), true)
    assert.deepEqual(await alive(store, own, other), [false, true])
    const late = { ...make.token(who, make.at(2)), keyId: key.keyId }
    await store.tokens.create(late, make.audit())
    assert.deepEqual(await alive(store, late), [false], 'one that was being made meanwhile')
    assert.equal(await store.platformKeys.setDisabled(key.keyId, null, make.audit()), true)
    assert.deepEqual(await alive(store, own, other), [false, true], 'enabling brings none back')
    const again = { ...make.token(who, make.at(3)), keyId: key.keyId }
    await store.tokens.create(again, make.audit())
    assert.equal(await store.platformKeys.revoke(key.keyId, make.audit()), true)
    assert.deepEqual(await alive(store, again, other), [false, true])
    assert.equal(await store.platforms.findByClientId(key.clientId), null)
    assert.equal(await store.platformKeys.revoke(key.keyId, make.audit()), false)
  })

  contractCase('K40', 'disabling a user, or a platform, erases its tokens and ends its open links', async ({ store }) => {
    const [who, other] = [await make.owner(store), await make.owner(store)]
    const disable = {
      user: (at: PlatformKey['disabledAt']) => store.users.setDisabled(who.user.userKey, at, make.audit()),
      platform: (at: PlatformKey['disabledAt']) => store.platforms.setDisabled(who.platform.platformId, at, make.audit())
    }
    for (const setDisabled of Object.values(disable)) {
      const [own, foreign] = [make.token(who), make.token(other)]
      for (const token of [own, foreign]) await store.tokens.create(token, make.audit())
      const [link, foreignLink] = [await linkOf(store, who), await linkOf(store, other)]
      assert.equal(await setDisabled(make.at(1)), true)
      assert.deepEqual(await alive(store, own, foreign), [false, true])
      assert.deepEqual(await Promise.all([link, foreignLink].map(find => find())), ['failed', 'open'])
      const late = make.token(who)
      await store.tokens.create(late, make.audit())
      assert.deepEqual(await alive(store, late), [false])
      assert.equal(await setDisabled(null), true)
    }
    assert.equal((await store.users.find(who.platform.platformId, who.user.userId))?.disabledAt, null)
    await disable.user(make.at(4))
    assert.equal((await store.users.find(who.platform.platformId, who.user.userId))?.disabledAt, make.at(4))
    await disable.platform(make.at(5))
    assert.equal((await store.platforms.disabled()).get(who.platform.platformId), make.at(5))
    assert.equal((await store.platforms.findByClientId(who.platform.clientId))?.isPlatformDisabled, true)
    assert.equal(await store.platforms.setDisabled(make.uuid(), null, make.audit()), false)
    assert.equal(await store.users.setDisabled(make.uuid(), null, make.audit()), false)
  })
  creationCases(contractCase)
  removalCases(contractCase)
}

function removalCases(contractCase: DefineCase): void {
  contractCase(
    'K60',
    'disabling a key, or revoking it, ends the open links that were had with it and no others; none begins then',
    async ({ store }) => {
      const who = await make.owner(store)
      const end = {
        disable: (keyId: KeyId) => store.platformKeys.setDisabled(keyId, make.at(1), make.audit()),
        revoke: (keyId: KeyId) => store.platformKeys.revoke(keyId, make.audit())
      }
      for (const endKey of Object.values(end)) {
        const { keyId } = await keyIn(store, who)
        const [own, unnamed] = [await linkOf(store, who, keyId), await linkOf(store, who)]
        assert.deepEqual([await own(), await unnamed()], ['open', 'open'])
        await endKey(keyId)
        assert.deepEqual([await own(), await unnamed()], ['failed', 'open'])
        const late = { ...make.attempt(who.user), keyId }
        assert.equal(await store.attempts.create(late, make.hash(), make.audit()), false)
        assert.equal(await store.tokens.create({ ...make.token(who), keyId }, make.audit()), false)
      }
    }
  )

  contractCase('K65', 'of tokens that are made while their key is disabled, enabling it brings none back', async ({ store, beside }) => {
    const who = await make.owner(store)
    const { keyId } = await keyIn(store, who)
    const tokens = Array.from({ length: 12 }, () => ({ ...make.token(who), keyId }))
    await Promise.all([
      ...tokens.map(token => store.tokens.create(token, make.audit())),
      beside.platformKeys.setDisabled(keyId, make.at(1), make.audit())
    ])
    await store.platformKeys.setDisabled(keyId, null, make.audit())
    assert.deepEqual(
      await alive(store, ...tokens),
      tokens.map(() => false)
    )
  })

  contractCase('K70', 'a token is known as long as the secret of the key it was had with, and says when that ends', async ({ store }) => {
    const who = await make.owner(store)
    const key = make.key(who.platform)
    const [one, two, three] = [make.hash(), make.hash(), make.hash()]
    await store.platformKeys.create(key, one, make.audit())
    const tokenOf = (keySecretHash: string) => ({ ...make.token(who), keyId: key.keyId, keySecretHash })
    const [first, second] = [tokenOf(one), tokenOf(two)]
    const ends = async (...tokens: readonly MarketDataToken[]) =>
      Promise.all(tokens.map(async ({ tokenHash }) => (await store.tokens.find(tokenHash))?.keyEndsAt))
    assert.equal(await store.tokens.create(first, make.audit()), true)
    assert.equal(await store.tokens.create(second, make.audit()), false, 'no secret of the key')
    assert.deepEqual(await ends(first), [key.expiresAt])
    await store.platformKeys.replaceSecret(key.keyId, two, make.at(40), make.audit())
    assert.equal(await store.tokens.create(second, make.audit()), true)
    assert.deepEqual(await ends(first, second), [make.at(40), key.expiresAt])
    await store.platformKeys.replaceSecret(key.keyId, three, make.at(60), make.audit())
    assert.deepEqual(await ends(first, second), [undefined, key.expiresAt], 'the key ends first')
    await store.platformKeys.replaceSecret(key.keyId, make.hash(), null, make.audit())
    assert.deepEqual(await ends(first, second), [undefined, undefined])
  })

  contractCase('K75', 'the links of a key end with the secret that is replaced', async ({ store }) => {
    const who = await make.owner(store)
    const { keyId } = await keyIn(store, who)
    const [own, other] = [await attemptOf(store, who, keyId), await attemptOf(store, who)]
    const whole = make.attempt(who.user).expiresAt
    await store.platformKeys.replaceSecret(keyId, make.hash(), make.at(3_600_000), make.audit())
    assert.deepEqual([(await own())?.expiresAt, (await own())?.keyId], [whole, keyId])
    await store.platformKeys.replaceSecret(keyId, make.hash(), make.at(60_000), make.audit())
    assert.deepEqual([(await own())?.expiresAt, (await other())?.expiresAt], [make.at(60_000), whole])
    await store.platformKeys.replaceSecret(keyId, make.hash(), null, make.audit())
    assert.deepEqual([(await own())?.status, (await other())?.status], ['failed', 'open'])
  })
}

async function keyIn(store: Store, { platform }: Pick<make.Owner, 'platform'>): Promise<PlatformKey> {
  const key = make.key(platform)
  await store.platformKeys.create(key, make.hash(), make.audit())
  return key
}

function creationCases(contractCase: DefineCase): void {
  contractCase.sql(
    'K50',
    'nothing begins for a user that is disabled, or whose platform is, even if it was requested before',
    async ({ store, sql }) => {
      const who = await make.owner(store)
      const disable = {
        user: (at: PlatformKey['disabledAt']) => store.users.setDisabled(who.user.userKey, at, make.audit()),
        platform: (at: PlatformKey['disabledAt']) => store.platforms.setDisabled(who.platform.platformId, at, make.audit())
      }
      for (const setDisabled of Object.values(disable)) {
        const [attempt, connection, hash] = [make.attempt(who.user), make.connection(who.user), make.hash()]
        await store.attempts.create(attempt, make.hash(), make.audit())
        await setDisabled(make.at(1))
        assert.equal(await store.attempts.create(make.attempt(who.user), hash, make.audit()), false)
        assert.equal(await store.attempts.findByTokenHash(hash), null)
        await sql(`update connection_attempts set status = 'open' where attempt_id = $1`, [attempt.attemptId])
        assert.equal(await store.connections.create(connection, [], make.sealed(), attempt.attemptId, make.audit()), false)
        assert.equal(await store.connections.find(connection.connectionId), null)
        await setDisabled(null)
        assert.equal(await store.connections.create(connection, [], make.sealed(), attempt.attemptId, make.audit()), true)
      }
    }
  )

  contractCase('K55', 'of links that are made while a user is disabled, none stays open', async ({ store, beside }) => {
    const { user } = await make.owner(store)
    const hashes = Array.from({ length: 12 }, () => make.hash())
    await Promise.all([
      ...hashes.map(hash => store.attempts.create(make.attempt(user), hash, make.audit())),
      beside.users.setDisabled(user.userKey, make.at(1), make.audit())
    ])
    const left = await Promise.all(hashes.map(hash => store.attempts.findByTokenHash(hash)))
    assert.deepEqual(
      left.filter(attempt => attempt?.status === 'open'),
      []
    )
  })
}

function alive(store: Store, ...tokens: readonly MarketDataToken[]): Promise<readonly boolean[]> {
  return Promise.all(tokens.map(async ({ tokenHash }) => (await store.tokens.find(tokenHash)) !== null))
}

/** An open link of the user; returns a function that reads its status. */
async function linkOf(store: Store, who: Pick<make.Owner, 'user'>, keyId?: KeyId): Promise<() => Promise<string | undefined>> {
  const find = await attemptOf(store, who, keyId)
  return async () => (await find())?.status
}

async function attemptOf(store: Store, { user }: Pick<make.Owner, 'user'>, keyId: KeyId | null = null) {
  const hash = make.hash()
  await store.attempts.create({ ...make.attempt(user), keyId }, hash, make.audit())
  return () => store.attempts.findByTokenHash(hash)
}
