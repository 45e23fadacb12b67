/** A login at a host whose every answer the test writes. */

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credentials } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { MarketSource } from '@trunkline/core/ports/market'
import { type TradierSettings, tradier } from '../../src/tradier/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { json, ScriptedHost, type Seen } from '../support/scripted-host.ts'
import { reply } from './fixtures.ts'

export const ACCOUNT = '6YA00001'
export { soon } from '@trunkline/testkit/patience'

/** What a path is answered with: a fixture, or whatever else. The first whose beginning fits counts. */
export type Answers = { readonly [beginning: string]: string | ((seen: Seen, response: ServerResponse, request: IncomingMessage) => void) }

export class ScriptedTradier implements AsyncDisposable {
  readonly host: ScriptedHost
  readonly holder: MemoryHolder
  readonly meter = new MemoryMeter()
  readonly log = new MemoryLog()
  readonly definition: ReturnType<typeof tradier>
  readonly broker: ReturnType<ReturnType<typeof tradier>['open']>

  private constructor(host: ScriptedHost, clock: Clock, settings: Partial<TradierSettings>, credentials: Credentials) {
    this.host = host
    this.holder = new MemoryHolder(credentials)
    const deps = { clock, fraction: () => 0, log: this.log, meter: this.meter }
    const own: TradierSettings = {
      environment: 'live',
      apiUrl: `${host.origin}/v1`,
      streamUrl: `ws://127.0.0.1:${host.port}/ws`,
      authorizeUrl: `${host.origin}/v1/oauth/authorize`,
      clientId: 'app',
      clientSecret: 'secret',
      sendRedirectUri: false,
      accountStream: true,
      marketStream: true,
      hours: 'exchange',
      plain: true,
      ...settings
    }
    this.definition = tradier(own, deps)
    this.broker = this.definition.open(this.holder)
  }

  static async start(
    answers: Answers,
    {
      clock = systemClock,
      settings = {},
      credentials = { access_token: 'tk' }
    }: { clock?: Clock; settings?: Partial<TradierSettings>; credentials?: Credentials } = {}
  ): Promise<ScriptedTradier> {
    const host = await ScriptedHost.start(() => undefined)
    try {
      const scripted = new ScriptedTradier(host, clock, settings, credentials)
      scripted.answer(answers)
      return scripted
    } catch (error) {
      await host[Symbol.asyncDispose]()
      throw error
    }
  }

  answer(answers: Answers): void {
    this.host.script((seen, response, request) => {
      const requested = `${seen.method} ${seen.path.replace(/^\/v1/, '')}`
      const found = Object.entries(answers).find(([beginning]) => requested.startsWith(beginning))?.[1]
      if (found === undefined) json(response, 500, { nothing: requested })
      else if (typeof found === 'string') fixed(response, found)
      else found(seen, response, request)
    })
  }

  get market(): MarketSource {
    const { market } = this.broker
    assert.ok(market !== null)
    return market
  }

  /** Requests seen, as method and path below the API. */
  get requests(): readonly string[] {
    return this.host.seen.map(({ method, path }) => `${method} ${path.replace(/^\/v1/, '')}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.broker[Symbol.asyncDispose]()
    await this.definition[Symbol.asyncDispose]()
    await this.host[Symbol.asyncDispose]()
  }
}

export function fixed(response: ServerResponse, name: string): void {
  const { status, body } = reply(name)
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

/** One body for every request. */
export function answering(body: object): Answers[string] {
  return (_seen, response) => raw(response, 200, JSON.stringify(body))
}

export function raw(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end(text)
}
