/** Cases about logging in, and about a login's records. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { compare, type Decimal, isDecimal, negated, times } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { type Day, timestampOfMs, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Side } from '@trunkline/core/domain/vocabulary'
import { LoginDeclined, type TransactionReport } from '@trunkline/core/ports/broker'
import { until } from '../until.ts'
import {
  accepted,
  type ContractCase,
  CountingHolder,
  fault,
  firstSample,
  instrumentsOf,
  newOrder,
  recently,
  restingLimit,
  soon
} from './contract-case.ts'
import type { BrokerHarness } from './harness.ts'

const CALLBACKS = 'http://127.0.0.1:8080/connect/callback'

/** The login at the broker's page. */
function pageOf({ definition: { login, capabilities } }: BrokerHarness) {
  assert.ok(login.kind === 'oauth', 'a broker that says that its users log in at its own page has such a login')
  return { ...login, redirectUri: `${CALLBACKS}/${capabilities.id.toLowerCase()}` }
}

async function begun({ redirectUri, begin }: ReturnType<typeof pageOf>) {
  const state = randomUUID()
  return { state, redirectUri, ...(await begin({ redirectUri, state, trading: true })) }
}

/** Completes a login as a browser and a user would. */
async function walked(harness: BrokerHarness) {
  const login = pageOf(harness)
  const { authorizationUrl, ...begunLogin } = await begun(login)
  const callbackUrl = await harness.venue.walkLogin(authorizationUrl, 'approve')
  return await login.complete({ ...begunLogin, callbackUrl }, soon())
}

const oauthOnly: ContractCase['notOffered'] = ({ login }) => (login === 'oauth' ? null : 'the broker is connected with an API key')

/** The effects of a filled order. */
function holdingsOf({ symbol, quantity, legs, side }: OrderTicket) {
  const units = quantityOf(quantity)
  const signed = (of: Side, amount: Decimal) => (of.startsWith('BUY') ? amount : negated(amount))
  if (legs !== null) return legs.map(leg => ({ symbol: leg.symbol, quantity: signed(leg.side, times(units, leg.ratio)) }))
  return [{ symbol, quantity: signed(side, units) }]
}

export const CONNECT: readonly ContractCase[] = [
  {
    id: 'C10',
    title: 'its capabilities are complete: every instrument has order types, times in force and sides',
    run: async ({ definition: { capabilities } }) => {
      assert.match(capabilities.id, /^[A-Z][A-Z0-9_]*$/)
      assert.match(capabilities.logoColor, /^#[0-9a-f]{6}$/)
      assert.match(capabilities.logoInitials, /^[\p{L}\p{N}]{1,2}$/u)
      for (const instrument of capabilities.instruments)
        for (const values of [capabilities.orderTypes[instrument], capabilities.timesInForce[instrument], capabilities.sides[instrument]])
          assert.ok(values !== undefined && values.length > 0 && new Set(values).size === values.length, instrument)
      assert.ok(capabilities.brokerClOrdId.lengthMax >= 18)
    }
  },
  {
    id: 'C20',
    title: 'a user who approves yields working credentials',
    notOffered: oauthOnly,
    run: async harness => {
      const credentials = await walked(harness)
      assert.ok(Object.values(credentials).every(value => typeof value === 'string'))
      const broker = harness.open(new CountingHolder(credentials))
      // Two reads have different times.
      assert.deepEqual((await broker.accounts(soon())).items, (await harness.broker.accounts(soon())).items)
      accepted(await broker.submit(newOrder(firstSample(harness), restingLimit(firstSample(harness))), soon()))
    }
  },
  {
    id: 'C22',
    title: 'a user who declines is distinguished from any fault',
    notOffered: oauthOnly,
    run: async harness => {
      const { venue } = harness
      const login = pageOf(harness)
      const { authorizationUrl, ...begunLogin } = await begun(login)
      const callbackUrl = await venue.walkLogin(authorizationUrl, 'decline')
      await assert.rejects(login.complete({ ...begunLogin, callbackUrl }, soon()), LoginDeclined)
      assert.equal(await venue.requests('token'), 0)
    }
  },
  {
    id: 'C24',
    title: 'a callback of another login attempt is refused before the code is used',
    notOffered: oauthOnly,
    run: async harness => {
      const { venue } = harness
      const login = pageOf(harness)
      const { authorizationUrl, ...begunLogin } = await begun(login)
      const callbackUrl = await venue.walkLogin(authorizationUrl, 'approve')
      await assert.rejects(login.complete({ ...begunLogin, callbackUrl, state: randomUUID() }, soon()), fault('refused'))
      assert.equal(await venue.requests('token'), 0)
    }
  },
  {
    id: 'C26',
    title: 'a code can be exchanged once, and a verifier belongs to its attempt',
    notOffered: oauthOnly,
    run: async harness => {
      const { venue } = harness
      const login = pageOf(harness)
      const { authorizationUrl, ...begunLogin } = await begun(login)
      const callbackUrl = await venue.walkLogin(authorizationUrl, 'approve')
      await login.complete({ ...begunLogin, callbackUrl }, soon())
      await assert.rejects(login.complete({ ...begunLogin, callbackUrl }, soon()), fault('refused'))
      const stolen = await begun(login)
      // Without verifiers, only the state ties a code to its attempt.
      if (stolen.verifier === '') return
      const elsewhere = await venue.walkLogin(stolen.authorizationUrl, 'approve')
      await assert.rejects(login.complete({ ...stolen, callbackUrl: elsewhere, verifier: begunLogin.verifier }, soon()), fault('refused'))
    }
  },
  {
    id: 'C28',
    title: 'a revocation ends the login, and repeating it is no error',
    notOffered: capabilities =>
      oauthOnly(capabilities) ?? (capabilities.revocation !== 'none' ? null : 'only the user can end a login, at the broker'),
    run: async harness => {
      const credentials = await walked(harness)
      const broker = harness.open(new CountingHolder(credentials))
      await broker.accounts(soon())
      await harness.definition.login.revoke(credentials, soon())
      // Some brokers keep issued access tokens valid until they expire, which is soon.
      const later = harness.open(new CountingHolder(harness.expired(credentials)))
      await assert.rejects(later.accounts(soon()), fault('credentials_rejected'))
      await harness.definition.login.revoke(credentials, soon())
    }
  },
  {
    id: 'C29',
    title: 'revoking one of two logins of a user ends that one or both, as the capabilities state',
    notOffered: capabilities =>
      oauthOnly(capabilities) ?? (capabilities.revocation !== 'none' ? null : 'only the user can end a login, at the broker'),
    run: async harness => {
      const { login, capabilities } = harness.definition
      const [first, second] = [await walked(harness), await walked(harness)]
      await login.revoke(first, soon())
      const other = harness.open(new CountingHolder(harness.expired(second)))
      if (capabilities.revocation === 'customer') await assert.rejects(other.accounts(soon()), fault('credentials_rejected'))
      else assert.ok((await other.accounts(soon())).items.length > 0)
    }
  },
  {
    id: 'C30',
    title: 'the accounts are distinct and can be shown to a user',
    run: async ({ broker }) => {
      const { items: accounts } = await broker.accounts(soon())
      assert.ok(accounts.length > 0)
      assert.equal(new Set(accounts.map(account => account.brokerAccountId)).size, accounts.length)
      for (const account of accounts) assert.ok(account.accountNumber !== '' && account.institutionName !== '')
    }
  },
  {
    id: 'C40',
    title: 'balances: one per account and currency, with decimals as the venue wrote them',
    run: async ({ broker, venue }) => {
      for (const { brokerAccountId } of (await broker.accounts(soon())).items) {
        const { items } = await broker.balances(brokerAccountId, soon())
        assert.ok(items.length > 0)
        assert.equal(new Set(items.map(item => item.currency)).size, items.length)
        for (const item of items) assert.equal(item.brokerAccountId, brokerAccountId)
        const raw = await venue.raw('balances', brokerAccountId)
        for (const value of decimalsOf(items)) assert.ok(raw.includes(value), `${value} is not how the venue wrote it`)
      }
    }
  },
  {
    id: 'C42',
    title: 'positions: none before the first fill, then the bought quantity, then flat again',
    run: async harness => {
      const { broker, venue } = harness
      for (const instrument of instrumentsOf(harness)) {
        const sample = harness.sample(instrument)
        assert.deepEqual((await broker.positions(sample.brokerAccountId, soon())).items, [])
        accepted(await broker.submit(newOrder(sample, sample.marketable), soon()))
        const bought = async () => (await broker.positions(sample.brokerAccountId, soon())).items
        const wanted = holdingsOf(sample.marketable)
        await until(async () => (await bought()).length === wanted.length, 'the position is there')
        const raw = await venue.raw('positions', sample.brokerAccountId)
        for (const position of await bought()) {
          const { symbol, brokerAccountId, quantity } = position
          assert.equal(position.instrument, instrument === 'MLEG_OPT' ? 'OPT' : instrument)
          assert.equal(brokerAccountId, sample.brokerAccountId)
          assert.ok(
            wanted.some(held => held.symbol === symbol && compare(held.quantity, quantity) === 0),
            `${quantity} ${symbol}`
          )
          assert.ok(raw.includes(quantity))
        }
        accepted(await broker.submit(newOrder(sample, sample.closing), soon()))
        await until(async () => (await bought()).length === 0, 'the position is closed')
      }
    }
  },
  {
    id: 'C44',
    title: 'transactions: every trade is listed, with its order where the broker reports it, and both dates are inclusive',
    notOffered: ({ transactions }) => (transactions ? null : 'the broker has no transactions'),
    run: async harness => {
      const { broker, venue } = harness
      const sample = firstSample(harness)
      const order = accepted(await broker.submit(newOrder(sample, sample.marketable), soon()))
      const today = tradingDay(order.entryTime)
      const listed = async (from: Day, to: Day) => (await broker.transactions(sample.brokerAccountId, from, to, soon())).items
      // Some brokers list trades without their order.
      const isIt = (item: TransactionReport) =>
        item.brokerOrderId === null ? item.symbol === sample.symbol : item.brokerOrderId === order.brokerOrderId
      await until(async () => (await listed(today, today)).some(isIt), 'the trade is listed')
      const items = await listed(today, today)
      const trade = items.find(isIt)
      assert.ok(trade !== undefined)
      assert.deepEqual([trade.type, trade.symbol, trade.day], ['BUY', sample.symbol, today])
      assert.ok(trade.amount?.startsWith('-'), 'what was paid is negative')
      assert.equal(new Set(items.map(item => item.brokerTransactionId)).size, items.length)
      const raw = await venue.raw('transactions', sample.brokerAccountId)
      // The amount may be computed: some brokers report only the quantity and price of a trade.
      for (const value of decimalsOf(items.map(({ amount: _, ...rest }) => rest)))
        assert.ok(raw.includes(value), `${value} is not how the venue wrote it`)
      const longAgo = tradingDay(timestampOfMs(Date.now() - 30 * 86_400_000))
      assert.deepEqual(await listed(longAgo, longAgo), [])
    }
  },
  {
    id: 'C46',
    title: 'an account of another user is a fault, not an empty list',
    run: async ({ broker }) => {
      await assert.rejects(broker.positions('no-such-account', soon()), fault('refused'))
      await assert.rejects(broker.orders('no-such-account', recently(), soon()), fault('refused'))
    }
  }
]

function quantityOf(quantity: Decimal | null): Decimal {
  assert.ok(quantity !== null)
  return quantity
}

/** Every decimal of a report. */
function decimalsOf(value: unknown): readonly string[] {
  if (isDecimal(value)) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(decimalsOf) : []
}
