/** The sandbox brokerage under the broker contract: every case gets its own login in one sandbox. */

import assert from 'node:assert/strict'
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { Broker, BrokerDefinition, Credentials, CredentialsHolder } from '@trunkline/core/ports/broker'
import type { BrokerHarness, InjectedFault, InjectedStreamFault, Venue, VenueOperation } from '@trunkline/testkit/broker-contract/index'
import { sandbox } from '../../src/sandbox/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { isRecord } from '../support/endless.ts'
import { faultOf } from '../support/faults.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { walk } from './browser.ts'
import { samplesOf } from './samples.ts'
import type { Json, SandboxProcess } from './sandbox-process.ts'

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

export async function openSandbox(sandboxProcess: SandboxProcess): Promise<BrokerHarness> {
  await sandboxProcess.control('DELETE', '/faults')
  await sandboxProcess.control('POST', '/streams', { do: 'normal' })
  // A server that rotates refresh tokens grants a grace period to clients whose answer was lost.
  await sandboxProcess.control('PUT', '/oauth', { refresh_grace_ms: 30_000 })
  const { login } = await sandboxProcess.control('POST', '/logins', {
    accounts: [
      { kind: 'margin', cash: '100000' },
      { kind: 'coin', cash: '100000' },
      { kind: 'futures', cash: '1000000' }
    ]
  })
  const token = await sandboxProcess.control('POST', `/logins/${login.username}/token`, {})
  await sandboxProcess.control('DELETE', '/counters')
  const samples = await samplesOf(sandboxProcess, token.access_token, login)
  const open: AsyncDisposable[] = []
  const definition = definitionAt(sandboxProcess, sandboxProcess.url)
  const unreachable = definitionAt(sandboxProcess, 'http://127.0.0.1:1')
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
    venue: new SandboxVenue(sandboxProcess, login, token.access_token),
    throttledSubmit: 'refused',
    patienceMs: 20_000,
    expired: given => ({ ...given, expires_at: timestampOfMs(epochMs(systemClock.now()) - 1_000) }),
    open: holder => opened(definition, holder),
    address: sandboxProcess.url,
    openAt: address => opened(definitionAt(sandboxProcess, address), new MemoryHolder(credentials)),
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

function definitionAt(sandboxProcess: SandboxProcess, baseUrl: string) {
  const { clientId, clientSecret } = sandboxProcess
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

class SandboxVenue implements Venue {
  readonly #sandbox: SandboxProcess
  readonly #login: Json
  readonly #token: string

  constructor(sandboxProcess: SandboxProcess, login: Json, token: string) {
    this.#sandbox = sandboxProcess
    this.#login = login
    this.#token = token
  }

  async injectFault(on: VenueOperation, how: InjectedFault, times?: number, skip = 0): Promise<void> {
    for (const operation of OPERATIONS[on]) {
      const whose = on === 'token' ? {} : { login: this.#login.username }
      await this.#sandbox.control('POST', '/faults', {
        on: operation,
        ...whose,
        ...faultOf(how),
        ...(times === undefined ? {} : { times }),
        skip
      })
    }
  }

  async clearFaults(): Promise<void> {
    await this.#sandbox.control('DELETE', '/faults')
  }

  async stream(fault: InjectedStreamFault): Promise<void> {
    await this.#sandbox.control('POST', '/streams', { do: fault, login: this.#login.username })
  }

  async requests(on: VenueOperation): Promise<number> {
    const { operations } = await this.#sandbox.control('GET', '/counters')
    return OPERATIONS[on].reduce((total, operation) => total + (operations[operation]?.requests ?? 0), 0)
  }

  async orderCounts(brokerClOrdId: string): Promise<{ received: number; accepted: number }> {
    const { received, accepted } = await this.#sandbox.control('GET', `/orders?client_order_id=${encodeURIComponent(brokerClOrdId)}`)
    return { received, accepted }
  }

  async raw(on: 'balances' | 'positions' | 'orders' | 'transactions', brokerAccountId: string): Promise<string> {
    return await this.#sandbox.get(`/${on}?account=${brokerAccountId}`, this.#token)
  }

  async placeElsewhere(brokerAccountId: string, ticket: OrderTicket): Promise<string> {
    const { order } = await this.#sandbox.control('POST', '/orders', {
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
    await this.#sandbox.control('POST', `/orders/${brokerOrderId}/fill`, { quantity })
  }

  async reveal(brokerClOrdId: string): Promise<void> {
    const { orders } = await this.#sandbox.control('GET', `/orders?client_order_id=${encodeURIComponent(brokerClOrdId)}`)
    for (const { id } of orders) await this.#sandbox.control('POST', `/orders/${id}/reveal`, {})
  }

  async end(brokerOrderId: string): Promise<void> {
    await this.#sandbox.control('POST', `/orders/${brokerOrderId}/cancel`, {})
  }

  readonly unknownOrderId = 'no-such-order'

  async revoke(): Promise<void> {
    await this.#sandbox.control('POST', `/logins/${this.#login.username}/revoke`, {})
  }

  async revokeRefresh(): Promise<void> {
    await this.#sandbox.control('POST', `/logins/${this.#login.username}/revoke`, { refresh_only: true })
  }

  async walkLogin(authorizationUrl: string, decision: 'approve' | 'decline'): Promise<string> {
    const redirect = new URL(authorizationUrl).searchParams.get('redirect_uri')
    assert.ok(redirect !== null)
    return await walk(authorizationUrl, redirect, this.#login, decision)
  }
}
