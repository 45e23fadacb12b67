/** One login's session on a market stream: adds and drops subscriptions, and answers the requests. */

import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { Denied, StreamConnection, StreamProtocol } from '../stream/connection.ts'
import type { BatchedSender } from './batched-sender.ts'

export const CHANNELS = ['trades', 'quotes', 'depth', 'bars', 'chain'] as const
export type Channel = (typeof CHANNELS)[number]

/** A symbol on a channel; `expiration` only for chains. */
export interface Wanted {
  readonly channel: Channel
  readonly symbol: string
  readonly expiration: string | null
}

/** Symbols that a stream may have over all channels. */
const WANTED_MAX = 10_000
const N_MAX = 4_294_967_295
const FIELDS = ['op', 'n', 'channel', 'symbols', 'interval', 'expiration']

export interface MarketSessionDeps {
  readonly sender: BatchedSender
  /** Counts the connection for its login; otherwise returns the refusal. */
  readonly enrol: () => Denied | undefined
  /** Starts a subscription. @returns false if it does not exist */
  readonly add: (wanted: Wanted) => boolean
  readonly drop: (wanted: Wanted) => void
  readonly heartbeatMs: number
  readonly stamp: () => string
  readonly sandboxTime: () => string
}

export class MarketSession implements StreamProtocol {
  readonly garbled = '{"seq":0,"items":[{"t":'
  readonly #connection: StreamConnection
  readonly #deps: MarketSessionDeps
  readonly #wanted = new Map<string, Wanted>()

  constructor(connection: StreamConnection, deps: MarketSessionDeps) {
    this.#connection = connection
    this.#deps = deps
  }

  get seq(): number {
    return this.#deps.sender.seq
  }

  join(): { readonly ready: object } | Denied {
    const denied = this.#deps.enrol()
    if (denied !== undefined) return denied
    const { heartbeatMs, stamp, sandboxTime } = this.#deps
    const login = this.#connection.pass?.login ?? ''
    return { ready: { ev: 'ready', login, heartbeat_ms: heartbeatMs, as_of: stamp(), sandbox_time: sandboxTime() } }
  }

  joined(): void {
    // Nothing is sent before the first subscription.
  }

  onMessage(op: string, message: unknown): void {
    try {
      const { n, wanted } = requestOf(message)
      if (op === 'add') this.#add(n, wanted)
      else this.#drop(n, wanted)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.#connection.send({ ev: 'problem', n: nOf(message), code: error.code, message: error.message })
    }
  }

  /** Handles the close of the connection. */
  left(): void {
    for (const wanted of this.#wanted.values()) this.#deps.drop(wanted)
    this.#wanted.clear()
    this.#deps.sender.end()
  }

  #add(n: number, requested: readonly Wanted[]): void {
    const fresh = requested.filter(wanted => !this.#wanted.has(keyOf(wanted)))
    if (this.#wanted.size + fresh.length > WANTED_MAX)
      throw new Problem('too_many_symbols', `a stream may have ${WANTED_MAX} symbols over all channels, and has ${this.#wanted.size}`)
    const unknown = new Set<string>()
    for (const wanted of fresh) {
      if (this.#deps.add(wanted)) this.#wanted.set(keyOf(wanted), wanted)
      else unknown.add(wanted.symbol)
    }
    const symbols = requested.map(({ symbol }) => symbol).filter(symbol => !unknown.has(symbol))
    // Items that arrive meanwhile are sent at the end of this turn, so after the answer.
    this.#connection.send({ ev: 'added', n, symbols, unknown: [...unknown] })
  }

  #drop(n: number, requested: readonly Wanted[]): void {
    for (const wanted of requested) if (this.#wanted.delete(keyOf(wanted))) this.#deps.drop(wanted)
    this.#connection.send({ ev: 'dropped', n })
  }
}

function requestOf(message: unknown): { readonly n: number; readonly wanted: readonly Wanted[] } {
  const fields = new Fields(message, FIELDS)
  const n = fields.countOr('n', 0, N_MAX)
  if (n === null) throw new Problem('bad_request', 'n is missing', { field: 'n' })
  const channel = fields.member('channel', CHANNELS)
  const interval = fields.textOr('interval')
  if (interval !== (channel === 'bars' ? '1m' : null)) throw new Problem('bad_request', 'interval is 1m for bars, and nothing else has one')
  const expiration = fields.dateOr('expiration')
  if ((expiration === null) === (channel === 'chain'))
    throw new Problem('bad_request', 'a chain has an expiration, and nothing else has one')
  const symbols = fields.listOr('symbols') ?? []
  if (symbols.length === 0) throw new Problem('bad_request', 'symbols is a list of symbols, one at least', { field: 'symbols' })
  return { n, wanted: [...new Set(symbols)].map(symbol => ({ channel, symbol: symbolOf(symbol), expiration })) }
}

function symbolOf(value: unknown): string {
  if (typeof value === 'string' && value.length >= 1 && value.length <= 64) return value
  throw new Problem('bad_request', 'every symbol is a text of 1 to 64 characters', { field: 'symbols' })
}

function nOf(message: unknown): number | null {
  const n = typeof message === 'object' && message !== null ? Reflect.get(message, 'n') : undefined
  return typeof n === 'number' && Number.isInteger(n) && n >= 0 && n <= N_MAX ? n : null
}

function keyOf({ channel, symbol, expiration }: Wanted): string {
  return `${channel} ${expiration ?? ''} ${symbol}`
}
