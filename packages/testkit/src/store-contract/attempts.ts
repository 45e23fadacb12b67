// Connection attempts.
import assert from 'node:assert/strict'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { DefineCase } from './harness.ts'
import * as make from './records.ts'

const broker = parseBrokerId('SANDBOX')

export function attemptCases(contractCase: DefineCase): void {
  contractCase('P10', 'an attempt is found by its token and, during the broker step, by its state', async ({ store }) => {
    const { user } = await make.owner(store)
    const [attempt, token, stateHash, verifier] = [make.attempt(user), make.hash(), make.hash(), make.sealed(3)]
    await store.attempts.create(attempt, token, make.audit())
    assert.deepEqual(await store.attempts.findByTokenHash(token), attempt)
    assert.equal(await store.attempts.findByStateHash(stateHash), null)
    assert.equal(await store.attempts.begin(attempt.attemptId, { broker, stateHash, verifier, at: make.at(1) }), true)
    const authorizing = { ...attempt, chosenBroker: broker, stateHash, status: 'authorizing' as const }
    assert.deepEqual(await store.attempts.findByStateHash(stateHash), { attempt: authorizing, verifier, stateMadeAt: make.at(1) })
    assert.equal(await store.attempts.findByTokenHash(make.hash()), null)
  })

  contractCase('P20', 'the first browser keeps an attempt, also against concurrent ones', async ({ store }) => {
    const { user } = await make.owner(store)
    const attempt = make.attempt(user)
    await store.attempts.create(attempt, make.hash(), make.audit())
    const browsers = Array.from({ length: 20 }, () => make.hash())
    const bound = await Promise.all(browsers.map(browser => store.attempts.bindBrowser(attempt.attemptId, browser)))
    assert.equal(bound.filter(Boolean).length, 1)
    const [first] = browsers.filter((_, index) => bound[index])
    assert.ok(first !== undefined)
    assert.equal(await store.attempts.bindBrowser(attempt.attemptId, first), true)
    assert.equal(await store.attempts.bindBrowser(make.uuid(), first), false)
  })

  contractCase('P30', 'a state is used once, by one of many; a new one begins the step again', async ({ store }) => {
    const { user } = await make.owner(store)
    const [attempt, token] = [make.attempt(user), make.hash()]
    await store.attempts.create(attempt, token, make.audit())
    const [first, second] = [make.hash(), make.hash()]
    await store.attempts.begin(attempt.attemptId, { broker, stateHash: first, verifier: make.sealed(), at: make.at(1) })
    const consumed = await Promise.all(Array.from({ length: 20 }, () => store.attempts.consumeState(attempt.attemptId, first)))
    assert.equal(consumed.filter(Boolean).length, 1)
    assert.equal(await store.attempts.findByStateHash(first), null)
    assert.equal((await store.attempts.findByTokenHash(token))?.status, 'authorizing')
    assert.equal(
      await store.attempts.begin(attempt.attemptId, { broker, stateHash: second, verifier: make.sealed(), at: make.at(1) }),
      true
    )
    assert.equal(await store.attempts.consumeState(attempt.attemptId, first), false)
    assert.equal(await store.attempts.consumeState(attempt.attemptId, second), true)
  })

  contractCase('P40', 'an attempt ends once and then begins nothing more', async ({ store }) => {
    const { user } = await make.owner(store)
    const [attempt, token] = [make.attempt(user), make.hash()]
    await store.attempts.create(attempt, token, make.audit())
    const ends = await Promise.all(
      Array.from({ length: 10 }, (_, index) => store.attempts.end(attempt.attemptId, index % 2 === 0 ? 'declined' : 'failed', make.audit()))
    )
    assert.equal(ends.filter(Boolean).length, 1)
    const stateHash = make.hash()
    assert.equal(await store.attempts.begin(attempt.attemptId, { broker, stateHash, verifier: make.sealed(), at: make.at(1) }), false)
    assert.equal(await store.attempts.findByStateHash(stateHash), null)
    const ended = await store.attempts.findByTokenHash(token)
    assert.ok(ended?.status === 'declined' || ended?.status === 'failed')
  })

  contractCase(
    'P45',
    'logins with keys are counted up to a number, also at once, and not once the attempt has ended',
    async ({ store }) => {
      const { user } = await make.owner(store)
      const [attempt, other] = [make.attempt(user), make.attempt(user)]
      for (const each of [attempt, other]) await store.attempts.create(each, make.hash(), make.audit())
      const counted = await Promise.all(Array.from({ length: 8 }, () => store.attempts.countTry(attempt.attemptId, 5)))
      assert.deepEqual(
        counted.filter(tries => tries !== null).sort((a, b) => a - b),
        [1, 2, 3, 4, 5]
      )
      assert.equal(await store.attempts.tries(attempt.attemptId), 5)
      assert.equal(await store.attempts.tries(other.attemptId), 0)
      assert.equal(await store.attempts.countTry(other.attemptId, 5), 1)
      assert.equal(await store.attempts.tries(other.attemptId), 1)
      assert.equal(await store.attempts.tries(make.uuid()), 0)
      await store.attempts.end(other.attemptId, 'failed', make.audit())
      assert.equal(await store.attempts.countTry(other.attemptId, 5), null)
      assert.equal(await store.attempts.countTry(make.uuid(), 5), null)
    }
  )

  contractCase('P50', 'pruning takes the expired attempts and leaves the others', async ({ store }) => {
    const { user } = await make.owner(store)
    const [old, token] = [{ ...make.attempt(user), expiresAt: make.at(-1_000_000_000) }, make.hash()]
    const [live, liveToken] = [make.attempt(user), make.hash()]
    await store.attempts.create(old, token, make.audit())
    await store.attempts.create(live, liveToken, make.audit())
    assert.equal(await store.attempts.prune(make.at(-1_000_000_000)), 0)
    assert.equal(await store.attempts.prune(make.at(-999_999_999)), 1)
    assert.equal(await store.attempts.findByTokenHash(token), null)
    assert.deepEqual(await store.attempts.findByTokenHash(liveToken), live)
  })
}
