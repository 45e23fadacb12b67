/** TradeStation as a script: the test writes its answers line by line. */

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { AccountEvent, Broker, BrokerDefinition, Credentials } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { type TradestationSettings, tradestation } from '../../src/tradestation/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { json, ScriptedHost, type Seen } from '../support/scripted-host.ts'
import { ACCOUNT, type Json } from './fixtures.ts'

const MEDIA_TYPE = 'application/vnd.tradestation.streams.v3+json'

export const CREDENTIALS: Credentials = {
  access_token: 'token-1',
  refresh_token: 'refresh-1',
  issued_at: timestampOfMs(Date.now()),
  expires_at: timestampOfMs(Date.now() + 1_200_000)
}

export type Answer = (seen: Seen, response: ServerResponse) => void

export class Venue implements AsyncDisposable {
  readonly host: ScriptedHost
  readonly log = new MemoryLog()
  readonly meter = new MemoryMeter()
  readonly holder = new MemoryHolder(CREDENTIALS)
  readonly definition: BrokerDefinition & AsyncDisposable
  readonly broker: Broker
  /** Open streams by the end of their path, in the order they were opened. */
  readonly streams: { readonly path: string; readonly response: ServerResponse }[] = []
  /** By method and the end of the path, the longest first. What is not scripted is answered with 404. */
  readonly answers = new Map<string, Answer>()
  /** What each new stream begins with, by the end of its path. */
  readonly greetings = new Map<string, readonly Json[]>()

  private constructor(host: ScriptedHost, settings: Partial<TradestationSettings>) {
    this.host = host
    host.script((seen, response) => this.#answer(seen, response))
    this.definition = tradestation(
      {
        environment: 'sandbox',
        apiUrl: `${host.origin}/below/v3`,
        authorizeUrl: `${host.origin}/below/authorize`,
        oauthUrl: `${host.origin}/below/oauth`,
        clientId: 'us',
        clientSecret: 'secret',
        heartbeatMs: 5_000,
        compareMs: 60_000,
        hours: 'exchange',
        plain: true,
        ...settings
      },
      { clock: systemClock, fraction: () => 0, log: this.log, meter: this.meter }
    )
    this.broker = this.definition.open(this.holder)
    this.answer('GET /accounts', { Accounts: [{ AccountID: ACCOUNT, AccountType: 'Margin', Currency: 'USD', Status: 'Active' }] })
    this.answer('GET /balances', { Balances: [{ AccountID: ACCOUNT, CashBalance: '1', BuyingPower: '2' }], Errors: [] })
    this.answer('GET /positions', { Positions: [], Errors: [] })
    this.answer('GET /orders', { Orders: [], Errors: [] })
    this.answer('GET /historicalorders', { Orders: [], Errors: [] })
    this.greetings.set('/orders', [{ StreamStatus: 'EndSnapshot' }])
    this.greetings.set('/positions', [{ StreamStatus: 'EndSnapshot' }])
  }

  static async start(settings: Partial<TradestationSettings> = {}): Promise<Venue> {
    return new Venue(await ScriptedHost.start(() => undefined), settings)
  }

  /** `what` is the method and the end of the path; a value is answered as JSON. */
  answer(what: string, how: Answer | Json, status = 200, headers: Record<string, string> = {}): void {
    this.answers.set(
      what,
      typeof how === 'function' ? how : (_seen: Seen, response: ServerResponse) => json(response, status, how, headers)
    )
  }

  /** Requests whose path has this end, queries left aside. */
  seen(what: string): readonly Seen[] {
    return this.host.seen.filter(seen => isOf(what, seen))
  }

  /** Writes lines to the newest stream of a kind. */
  send(kind: string, ...lines: readonly Json[]): void {
    const stream = this.streams.findLast(({ path }) => path.endsWith(kind))
    assert.ok(stream !== undefined, `no stream of ${kind}`)
    for (const text of lines) stream.response.write(`${JSON.stringify(text)}\r\n`)
  }

  /** Streams that are open now. */
  open(kind = ''): readonly string[] {
    return this.streams
      .filter(({ path, response }) => path.includes(kind) && !response.destroyed && !response.writableEnded)
      .map(({ path }) => path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.broker[Symbol.asyncDispose]()
    await this.definition[Symbol.asyncDispose]()
    await this.host[Symbol.asyncDispose]()
  }

  #answer(seen: Seen, response: ServerResponse): void {
    const isStream = seen.path.includes('/stream/')
    const [key] = [...this.answers.keys()]
      .filter(what => isOf(what, seen) && what.includes('/stream') === isStream)
      .toSorted((a, b) => b.length - a.length)
    if (isStream && key === undefined) {
      const path = pathOf(seen)
      this.streams.push({ path, response })
      response.writeHead(200, { 'content-type': MEDIA_TYPE })
      response.flushHeaders()
      const greeting = [...this.greetings].find(([end]) => path.endsWith(end))?.[1] ?? []
      for (const text of greeting) response.write(`${JSON.stringify(text)}\r\n`)
      return
    }
    const answer = key === undefined ? undefined : this.answers.get(key)
    if (answer === undefined) json(response, 404, { Error: 'NotFound', Message: `nothing is scripted for ${seen.method} ${seen.path}` })
    else answer(seen, response)
  }
}

function isOf(what: string, seen: Seen): boolean {
  const [method = '', end = ''] = what.split(' ')
  return seen.method === method && (end.includes('/stream') ? pathOf(seen).includes(end) : pathOf(seen).endsWith(end))
}

function pathOf({ path }: Seen): string {
  return path.split('?')[0] ?? ''
}

/** Follows the account streams and remembers. */
export class Followed implements AsyncDisposable {
  readonly events: AccountEvent[] = []
  readonly ended: Promise<unknown>
  readonly #stop = new AbortController()

  constructor(broker: Broker) {
    this.ended = this.#follow(broker).then(
      () => null,
      (error: unknown) => error
    )
  }

  static async live(broker: Broker): Promise<Followed> {
    const followed = new Followed(broker)
    await followed.receives(events => events.some(({ type }) => type === 'live'), 'live')
    return followed
  }

  /** Types of the events, gaps with their cause, orders with their status. */
  get history(): readonly string[] {
    return this.events.map(event => {
      if (event.type === 'gap') return `gap ${event.cause}`
      return event.type === 'order'
        ? `${event.report.brokerOrderId} ${event.report.status}${event.report.releases === true ? ' releases' : ''}`
        : event.type
    })
  }

  async receives(condition: (events: readonly AccountEvent[]) => boolean, what: string): Promise<void> {
    await until(() => condition(this.events), what).catch((cause: unknown) => {
      throw new Error(`${what}; received ${this.history.join(', ')}`, { cause })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.ended
  }

  async #follow(broker: Broker): Promise<void> {
    for await (const event of broker.events(this.#stop.signal)) this.events.push(event)
  }
}
