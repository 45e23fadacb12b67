/** The sandbox brokerage under the broker contract: every card gets a login of its own in one house. */

import assert from 'node:assert/strict'
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { Broker, BrokerDefinition, Credentials, CredentialsHolder } from '@trunkline/core/ports/broker'
import type { BrokerHarness, Misbehaviour, StreamMischief, Venue, VenueOperation } from '@trunkline/testkit/broker-contract/index'
import { sandbox } from '../../src/sandbox/index.ts'
import { systemClock } from '../support/clocks.ts'
import { isRecord } from '../support/endless.ts'
import { faultOf } from '../support/faults.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { walk } from './browser.ts'
import type { HouseProcess, Json } from './house.ts'
import { samplesOf } from './samples.ts'

const OPERATIONS: { readonly [on in VenueOperation]: readonly string[] } = {
  accounts: ['accounts.list'],
  balances: ['balances.list'],
  positions: ['positions.list'],
  orders: ['orders.list'],
  find: ['orders.find', 'orders.get'],
  transactions: ['transactions.list'],
  submit: ['orders.submit'],
  preview: ['orders.preview'],
  replace: ['orders.amend'],
  cancel: ['orders.cancel'],
  token: ['token']
}

const DIRECTION: { readonly [side in Side]?: string } = { BUY: 'buy', SELL: 'sell' }

export async function openSandbox(house: HouseProcess): Promise<BrokerHarness> {
  await house.control('DELETE', '/faults')
  await house.control('POST', '/streams', { do: 'normal' })
  // Whoever makes a new refresh token of every old one gives those a while whose answer was lost.
  await house.control('PUT', '/oauth', { refresh_grace_ms: 30_000 })
  const { login } = await house.control('POST', '/logins', {
    accounts: [
      { kind: 'margin', cash: '100000' },
      { kind: 'coin', cash: '100000' },
      { kind: 'futures', cash: '1000000' }
    ]
  })
  const token = await house.control('POST', `/logins/${login.username}/token`, {})
  await house.control('DELETE', '/counters')
  const samples = await samplesOf(house, token.access_token, login)
  const open: AsyncDisposable[] = []
  const definition = definitionAt(house, house.url)
  const unreachable = definitionAt(house, 'http://127.0.0.1:1')
  const credentials = credentialsOf(token)

  function opened(of: BrokerDefinition, holder: CredentialsHolder): Broker {
    const broker = of.open(holder)
    open.push(broker)
    return broker
  }

  return {
    definition,
    broker: opened(definition, new MemoryHolder(credentials)),
    credentials,
    venue: new HouseVenue(house, login, token.access_token),
    throttledSubmit: 'refused',
    patienceMs: 20_000,
    expired: given => ({ ...given, expires_at: timestampOfMs(epochMs(systemClock.now()) - 1_000) }),
    open: holder => opened(definition, holder),
    address: house.url,
    openAt: address => opened(definitionAt(house, address), new MemoryHolder(credentials)),
    endless: answer => (isRecord(answer) && 'next' in answer ? { ...answer, next: 'again' } : answer),
    openUnreachable: () => opened(unreachable, new MemoryHolder(credentials)),
    sample(instrument) {
      const sample = samples.get(instrument)
      assert.ok(sample !== undefined, instrument)
      return sample
    },
    async [Symbol.asyncDispose]() {
      for (const each of [...open, definition, unreachable]) await each[Symbol.asyncDispose]()
    }
  }
}

function definitionAt(house: HouseProcess, baseUrl: string) {
  const { clientId, clientSecret } = house
  const deps = { clock: systemClock, fraction: () => 0.05, log: new MemoryLog(), meter: new MemoryMeter() }
  return sandbox({ baseUrl, clientId, clientSecret }, deps)
}

function credentialsOf(token: Json): Credentials {
  const now = epochMs(systemClock.now())
  return {
    access_token: token.access_token,
    refresh_token: token.refresh_token,
    issued_at: timestampOfMs(now),
    expires_at: timestampOfMs(now + token.expires_in * 1_000)
  }
}

class HouseVenue implements Venue {
  readonly #house: HouseProcess
  readonly #login: Json
  readonly #token: string

  constructor(house: HouseProcess, login: Json, token: string) {
    this.#house = house
    this.#login = login
    this.#token = token
  }

  async misbehave(on: VenueOperation, how: Misbehaviour, times?: number, skip = 0): Promise<void> {
    for (const operation of OPERATIONS[on]) {
      const whose = on === 'token' ? {} : { login: this.#login.username }
      await this.#house.control('POST', '/faults', {
        on: operation,
        ...whose,
        ...faultOf(how),
        ...(times === undefined ? {} : { times }),
        skip
      })
    }
  }

  async behave(): Promise<void> {
    await this.#house.control('DELETE', '/faults')
  }

  async stream(mischief: StreamMischief): Promise<void> {
    await this.#house.control('POST', '/streams', { do: mischief, login: this.#login.username })
  }

  async requests(on: VenueOperation): Promise<number> {
    const { operations } = await this.#house.control('GET', '/counters')
    return OPERATIONS[on].reduce((total, operation) => total + (operations[operation]?.requests ?? 0), 0)
  }

  async books(brokerClOrdId: string): Promise<{ received: number; accepted: number }> {
    const { received, accepted } = await this.#house.control('GET', `/orders?client_order_id=${encodeURIComponent(brokerClOrdId)}`)
    return { received, accepted }
  }

  async raw(on: 'balances' | 'positions' | 'orders' | 'transactions', brokerAccountId: string): Promise<string> {
    return await this.#house.get(`/${on}?account=${brokerAccountId}`, this.#token)
  }

  async placeElsewhere(brokerAccountId: string, ticket: OrderTicket): Promise<string> {
    const { order } = await this.#house.control('POST', '/orders', {
      login: this.#login.username,
      account: brokerAccountId,
      symbol: ticket.symbol,
      direction: DIRECTION[ticket.side],
      kind: 'limit',
      lifetime: 'day',
      quantity: ticket.quantity,
      limit: ticket.limitPrice
    })
    return order.id
  }

  async fill(brokerOrderId: string, quantity: Decimal): Promise<void> {
    await this.#house.control('POST', `/orders/${brokerOrderId}/fill`, { quantity })
  }

  async reveal(brokerClOrdId: string): Promise<void> {
    const { orders } = await this.#house.control('GET', `/orders?client_order_id=${encodeURIComponent(brokerClOrdId)}`)
    for (const { id } of orders) await this.#house.control('POST', `/orders/${id}/reveal`, {})
  }

  async end(brokerOrderId: string): Promise<void> {
    await this.#house.control('POST', `/orders/${brokerOrderId}/cancel`, {})
  }

  readonly unknownOrderId = 'no-such-order'

  async revoke(): Promise<void> {
    await this.#house.control('POST', `/logins/${this.#login.username}/revoke`, {})
  }

  async revokeRefresh(): Promise<void> {
    await this.#house.control('POST', `/logins/${this.#login.username}/revoke`, { refresh_only: true })
  }

  async walkLogin(authorizationUrl: string, decision: 'approve' | 'decline'): Promise<string> {
    const redirect = new URL(authorizationUrl).searchParams.get('redirect_uri')
    assert.ok(redirect !== null)
    return await walk(authorizationUrl, redirect, this.#login, decision)
  }
}
