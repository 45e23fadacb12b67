/** Cases about access tokens, limits and time-outs. */

import assert from 'node:assert/strict'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '../until.ts'
import {
  accepted,
  type ContractCase,
  CountingHolder,
  fault,
  firstSample,
  givenUpWhen,
  isKind,
  MUCH_LATER_MS,
  newOrder,
  restingLimit,
  soon
} from './contract-case.ts'

const refreshes: ContractCase['notOffered'] = ({ tokens }) =>
  tokens === 'refreshed' ? null : 'its access tokens last until the user ends them'
const lasts: ContractCase['notOffered'] = ({ tokens }) => (tokens === 'lasting' ? null : 'its access tokens are refreshed')

export const TOKENS: readonly ContractCase[] = [
  {
    id: 'C170',
    title: 'twenty calls at once with an expired token make one refresh, and all succeed',
    notOffered: refreshes,
    run: async harness => {
      const holder = new CountingHolder(harness.expired(harness.credentials))
      const broker = harness.open(holder)
      const lists = await Promise.all(Array.from({ length: 20 }, () => broker.accounts(soon())))
      assert.ok(lists.every(({ items }) => items.length > 0))
      assert.equal(await harness.venue.requests('token'), 1)
      assert.equal(holder.renewals, 1)
    }
  },
  {
    id: 'C172',
    title: 'after a refused refresh, reads are credentials_rejected and orders are not sent',
    notOffered: refreshes,
    run: async harness => {
      await harness.venue.revokeRefresh()
      const broker = harness.open(new CountingHolder(harness.expired(harness.credentials)))
      await assert.rejects(broker.accounts(soon()), fault('credentials_rejected'))
      const sample = firstSample(harness)
      const outcome = await broker.submit(newOrder(sample, restingLimit(sample)), soon())
      assert.ok(outcome.kind === 'not_sent' && outcome.cause instanceof BrokerFault && outcome.cause.kind === 'credentials_rejected')
      assert.equal(await harness.venue.requests('token'), 1)
    }
  },
  {
    id: 'C174',
    title: 'one 401 causes at most one refresh and does not break the login',
    notOffered: refreshes,
    run: async harness => {
      await harness.venue.injectFault('accounts', { kind: 'status', status: 401, done: false }, 1)
      assert.ok((await harness.broker.accounts(soon())).items.length > 0)
      // A broker whose adapter first confirms the refusal needs no other token.
      assert.ok((await harness.venue.requests('token')) <= 1)
    }
  },
  {
    id: 'C176',
    title: 'a 401 to a token that was just refreshed is credentials_rejected',
    notOffered: refreshes,
    run: async harness => {
      await harness.venue.injectFault('accounts', { kind: 'status', status: 401, done: false }, 100)
      await assert.rejects(harness.broker.accounts(soon()), fault('credentials_rejected'))
      assert.equal(await harness.venue.requests('token'), 1)
    }
  },
  {
    id: 'C177',
    title: 'a 401 that a second read does not confirm does not break the login; a confirmed one is credentials_rejected',
    notOffered: lasts,
    run: async harness => {
      await harness.venue.injectFault('positions', { kind: 'status', status: 401, done: false }, 1)
      const { brokerAccountId } = firstSample(harness)
      assert.deepEqual((await harness.broker.positions(brokerAccountId, soon())).items, [])
      await harness.venue.revoke()
      await assert.rejects(harness.broker.positions(brokerAccountId, soon()), fault('credentials_rejected'))
    }
  },
  {
    id: 'C178',
    title: 'a token endpoint that fails, stalls or demands a pause never breaks the login',
    notOffered: refreshes,
    run: async harness => {
      const broker = harness.open(new CountingHolder(harness.expired(harness.credentials)))
      const faults = [
        { kind: 'status', status: 503, done: false },
        { kind: 'status', status: 429, done: false, retryAfterS: 30 },
        { kind: 'html' },
        { kind: 'reset' }
      ] as const
      for (const how of faults) {
        await harness.venue.injectFault('token', how.kind === 'html' ? { kind: 'status', status: 500, done: false } : how, 100)
        await assert.rejects(
          broker.accounts(soon()),
          (error: unknown) => error instanceof BrokerFault && /^(unreachable|rate_limited)$/.test(error.kind)
        )
        const sample = firstSample(harness)
        isKind(await broker.submit(newOrder(sample, restingLimit(sample)), soon()), 'not_sent')
        await harness.venue.clearFaults()
      }
      assert.ok((await broker.accounts(soon())).items.length > 0)
    }
  },
  {
    id: 'C179',
    title: 'a refresh whose answer is lost after the broker made new tokens does not break the login',
    notOffered: refreshes,
    run: async harness => {
      const broker = harness.open(new CountingHolder(harness.expired(harness.credentials)))
      await harness.venue.injectFault('token', { kind: 'lose_answer' }, 1)
      await until(async () => {
        const accounts = await broker.accounts(soon()).catch((error: unknown) => {
          assert.ok(error instanceof BrokerFault && error.kind !== 'credentials_rejected', String(error))
          return { items: [] }
        })
        return accounts.items.length > 0
      }, 'the login works again')
      const sample = firstSample(harness)
      accepted(await broker.submit(newOrder(sample, restingLimit(sample)), soon()))
    }
  },
  {
    id: 'C180',
    title: 'a read waits out a short 429, and reports a long one with its time',
    run: async harness => {
      const { broker, venue } = harness
      await broker.accounts(soon())
      const before = await venue.requests('accounts')
      await venue.injectFault('accounts', { kind: 'status', status: 429, done: false, retryAfterS: 1 }, 1)
      const from = performance.now()
      assert.ok((await broker.accounts(soon())).items.length > 0)
      assert.ok(performance.now() - from >= 1_000, 'it came back too early')
      assert.equal(await venue.requests('accounts'), before + 2)

      await venue.injectFault('accounts', { kind: 'status', status: 429, done: false, retryAfterS: 60 }, 1)
      await assert.rejects(broker.accounts(soon()), (error: unknown) => {
        assert.ok(fault('rate_limited')(error) && error instanceof BrokerFault)
        assert.ok((error.retryAfterMs ?? 0) >= 59_000)
        return true
      })
      assert.equal(await venue.requests('accounts'), before + 3)
      await assert.rejects(broker.accounts(soon()), fault('rate_limited'))
      assert.equal(await venue.requests('accounts'), before + 3, 'a pause the broker asked for is respected')
    }
  },
  {
    id: 'C182',
    title: 'a read is retried a bounded number of times after transient failures, and fails in time',
    run: async harness => {
      const { broker, venue } = harness
      await venue.injectFault('accounts', { kind: 'status', status: 503, done: false }, 1)
      assert.ok((await broker.accounts(soon())).items.length > 0)
      const before = await venue.requests('accounts')
      await venue.injectFault('accounts', { kind: 'reset' }, 100)
      await assert.rejects(broker.accounts(soon()), fault('unreachable'))
      const tried = (await venue.requests('accounts')) - before
      assert.ok(tried >= 1 && tried <= 5, `tried ${tried} times`)
      await venue.clearFaults()
      const served = await venue.requests('accounts')
      await venue.injectFault('accounts', { kind: 'answer_late', ms: MUCH_LATER_MS }, 1)
      const signal = givenUpWhen(async () => (await venue.requests('accounts')) > served)
      await assert.rejects(broker.accounts(signal), fault('unreachable'))
    }
  },
  {
    id: 'C190',
    title: 'a session that has to wait does not delay another',
    run: async harness => {
      const other = harness.open(new CountingHolder(harness.credentials))
      await harness.venue.injectFault('accounts', { kind: 'status', status: 429, done: false, retryAfterS: 60 }, 1)
      await assert.rejects(harness.broker.accounts(soon()), fault('rate_limited'))
      assert.ok((await other.accounts(soon())).items.length > 0)
      const sample = firstSample(harness)
      accepted(await other.submit(newOrder(sample, restingLimit(sample)), soon()))
    }
  }
]
