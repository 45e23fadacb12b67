/**
 * A broker's adapter under the broker contract, against the sandbox, which is a broker itself and emulates others: every case gets its own
 * login in one sandbox. What differs between brokers is in {@link DialectBroker}.
 */

import assert from 'node:assert/strict'
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { Instrument, Side } from '@trunkline/core/domain/vocabulary'
import type { Broker, BrokerDefinition, Credentials, CredentialsHolder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { digitsOf, uuidOf } from '@trunkline/sandbox/brokerage/order-ids'
import type {
  BrokerHarness,
  InjectedFault,
  InjectedStreamFault,
  Sample,
  Venue,
  VenueOperation
} from '@trunkline/testkit/broker-contract/index'
import type { BrokerDeps } from '../../src/kit/deps.ts'
import type { SandboxAccess } from '../../src/kit/settings.ts'
import { walk } from '../sandbox/browser.ts'
import { samplesOf } from '../sandbox/samples.ts'
import type { Json, SandboxProcess } from '../sandbox/sandbox-process.ts'
import { systemClock } from './clocks.ts'
import type { Endless } from './endless.ts'
import { faultOf } from './faults.ts'
import { MemoryHolder } from './holder.ts'
import { MemoryLog } from './log.ts'
import { MemoryMeter } from './meter.ts'

export type Definition = BrokerDefinition & AsyncDisposable
type Listed = 'balances' | 'positions' | 'orders' | 'transactions'

/** An account of the sandbox, as its control API returns it. */
export interface SandboxAccount {
  readonly id: string
  readonly number: string
  readonly kind: string
}

/** What sets one broker's harness apart from another's. */
export interface DialectBroker {
  /** The dialect's name; null for the sandbox's own API. */
  readonly name: string | null
  readonly define: (sandbox: SandboxAccess, deps: BrokerDeps) => Definition
  readonly clock: Clock
  readonly accounts: readonly { readonly kind: string; readonly cash: string }[]
  /** The broker's id of a customer's account; null for one that it does not have. */
  readonly accountOf: (account: SandboxAccount, username: string) => string | null
  /** How the broker writes the sandbox's order ids. */
  readonly ids: 'digits' | 'uuid' | 'same'
  /** Path and query of an answer with this kind of records, below the sandbox’s origin. */
  readonly path: (on: Listed, brokerAccountId: string) => string
  readonly authorize: (credentials: Credentials) => Readonly<Record<string, string>>
  /** Makes the sandbox’s sample one of this broker; the account is its own already. */
  readonly sample?: (sample: Sample, instrument: Instrument) => Sample
  /** The sandbox’s operations that differ from {@link OPERATIONS}. */
  readonly operations?: { readonly [on in VenueOperation]?: readonly string[] }
  /** Credentials as the adapter would have made them by its own clock. */
  readonly credentials?: (minted: Credentials) => Credentials
  readonly throttledSubmit: BrokerHarness['throttledSubmit']
  /** Created for each case. */
  readonly endless: () => Endless
  readonly patienceMs: number
  readonly unknownOrderId: string
}

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
const UNREACHABLE = 'http://127.0.0.1:1'

const ORDER_IDS = { digits: digitsOf, uuid: uuidOf, same: (id: string) => id }

export async function openDialect(sandbox: SandboxProcess, broker: DialectBroker): Promise<BrokerHarness> {
  await sandbox.control('DELETE', '/faults')
  await sandbox.control('POST', '/streams', { do: 'normal', ...dialectOf(broker) })
  const { login } = await sandbox.control('POST', '/logins', { accounts: broker.accounts })
  const own = await sandbox.control('POST', `/logins/${login.username}/token`, {})
  const credentials = await credentialsOf(sandbox, broker, login.username)
  const definition = definitionAt(sandbox, broker, sandbox.url)
  const unreachable = definitionAt(sandbox, broker, UNREACHABLE)
  const samples = await dialectSamples(sandbox, broker, login, own.access_token, definition.capabilities.instruments)
  await sandbox.control('DELETE', '/counters')
  const open: AsyncDisposable[] = []

  function opened(of: BrokerDefinition, holder: CredentialsHolder): Broker {
    const session = of.open(holder)
    open.push(session)
    return session
  }

  return {
    definition,
    broker: opened(definition, new MemoryHolder(credentials)),
    credentials,
    venue: new DialectVenue(sandbox, broker, login, credentials),
    throttledSubmit: broker.throttledSubmit,
    patienceMs: broker.patienceMs,
    expired: given => ({ ...given, expires_at: timestampOfMs(epochMs(broker.clock.now()) - 1_000) }),
    open: holder => opened(definition, holder),
    address: sandbox.url,
    openAt(address) {
      const elsewhere = definitionAt(sandbox, broker, address)
      open.push(elsewhere)
      return opened(elsewhere, new MemoryHolder(credentials))
    },
    endless: broker.endless(),
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

/** What a request to the control API names the dialect by. */
export function dialectOf({ name }: Pick<DialectBroker, 'name'>): { readonly dialect?: string } {
  return name === null ? {} : { dialect: name }
}

/** New credentials of a login, as its adapter would have stored them. */
export async function credentialsOf(sandbox: SandboxProcess, broker: DialectBroker, username: string): Promise<Credentials> {
  const granted = await sandbox.control('POST', `/logins/${username}/token`, dialectOf(broker))
  const minted: Credentials = granted.credentials ?? ownCredentials(granted)
  return broker.credentials?.(minted) ?? minted
}

function ownCredentials({ access_token, refresh_token, expires_in }: Json): Credentials {
  const nowMs = epochMs(systemClock.now())
  return { access_token, refresh_token, issued_at: timestampOfMs(nowMs), expires_at: timestampOfMs(nowMs + expires_in * 1_000) }
}

/** The adapter connected to a sandbox; its log and meter are its own. */
export function definitionAt(sandbox: SandboxProcess, { define, clock }: Pick<DialectBroker, 'define' | 'clock'>, url: string): Definition {
  const { clientId, clientSecret } = sandbox
  const deps = { clock, fraction: () => 0.05, log: new MemoryLog(), meter: new MemoryMeter() }
  return define({ url, publicUrl: sandbox.url, clientId, clientSecret, hours: 'always' }, deps)
}

async function dialectSamples(
  sandbox: SandboxProcess,
  { accountOf, sample }: DialectBroker,
  login: Json,
  token: string,
  instruments: readonly Instrument[]
): Promise<ReadonlyMap<Instrument, Sample>> {
  // The samples are the sandbox’s, whose own accounts are of every kind; those that the broker does not have give no sample.
  const accounts: readonly SandboxAccount[] = login.accounts
  const [first] = accounts
  assert.ok(first !== undefined)
  const lent = ['margin', 'coin', 'futures'].map(kind => accounts.find(account => account.kind === kind) ?? { ...first, kind })
  const known = await samplesOf(sandbox, token, { ...login, accounts: lent })
  const own = new Map<Instrument, Sample>()
  for (const instrument of instruments) {
    const found = known.get(instrument)
    const account = accounts.find(({ id }) => id === found?.brokerAccountId)
    const brokerAccountId = account === undefined ? null : accountOf(account, login.username)
    if (found === undefined || brokerAccountId === null) continue
    const placed = { ...found, brokerAccountId }
    own.set(instrument, sample?.(placed, instrument) ?? placed)
  }
  return own
}

class DialectVenue implements Venue {
  readonly unknownOrderId: string
  readonly #sandbox: SandboxProcess
  readonly #broker: DialectBroker
  readonly #login: Json
  readonly #credentials: Credentials

  constructor(sandbox: SandboxProcess, broker: DialectBroker, login: Json, credentials: Credentials) {
    this.unknownOrderId = broker.unknownOrderId
    this.#sandbox = sandbox
    this.#broker = broker
    this.#login = login
    this.#credentials = credentials
  }

  async injectFault(on: VenueOperation, how: InjectedFault, times?: number, skip = 0): Promise<void> {
    for (const operation of this.#operations(on))
      await this.#sandbox.control('POST', '/faults', {
        on: operation,
        ...(on === 'token' ? {} : { login: this.#login.username }),
        ...faultOf(how),
        ...(times === undefined ? {} : { times }),
        skip
      })
  }

  async clearFaults(): Promise<void> {
    await this.#sandbox.control('DELETE', '/faults')
  }

  async stream(fault: InjectedStreamFault): Promise<void> {
    await this.#sandbox.control('POST', '/streams', { do: fault, login: this.#login.username, ...dialectOf(this.#broker) })
  }

  async requests(on: VenueOperation): Promise<number> {
    const { operations } = await this.#sandbox.control('GET', '/counters')
    return this.#operations(on).reduce((total, operation) => total + (operations[operation]?.requests ?? 0), 0)
  }

  async orderCounts(brokerClOrdId: string): Promise<{ received: number; accepted: number }> {
    const { received, accepted } = await this.#sandbox.control('GET', `/orders?client_order_id=${encodeURIComponent(brokerClOrdId)}`)
    return { received, accepted }
  }

  async raw(on: Listed, brokerAccountId: string): Promise<string> {
    const answer = await fetch(`${this.#sandbox.url}${this.#broker.path(on, brokerAccountId)}`, {
      headers: { accept: 'application/json', ...this.#broker.authorize(this.#credentials) }
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${on}: ${answer.status} ${text}`)
    return text
  }

  async placeElsewhere(brokerAccountId: string, ticket: OrderTicket): Promise<string> {
    const accounts: readonly SandboxAccount[] = this.#login.accounts
    const { order } = await this.#sandbox.control('POST', '/orders', {
      login: this.#login.username,
      account: accounts.find(account => this.#broker.accountOf(account, this.#login.username) === brokerAccountId)?.id,
      symbol: ticket.symbol,
      direction: DIRECTION[ticket.side],
      kind: 'limit',
      lifetime: 'day',
      quantity: ticket.quantity,
      limit: ticket.limitPrice
    })
    return ORDER_IDS[this.#broker.ids](order.id)
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

  #operations(on: VenueOperation): readonly string[] {
    return this.#broker.operations?.[on] ?? OPERATIONS[on]
  }
}
