/** One login's talk on a market stream: what is added and dropped, and how that is answered. */

import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { Denied, Line, Talk } from '../stream/line.ts'
import type { Mailbox } from './mailbox.ts'

export const CHANNELS = ['trades', 'quotes', 'depth', 'bars', 'chain'] as const
export type Channel = (typeof CHANNELS)[number]

/** A symbol on a channel; `expiration` with chains only. */
export interface Wanted {
  readonly channel: Channel
  readonly symbol: string
  readonly expiration: string | null
}

/** Symbols a stream may have over all channels. */
const WANTED_MAX = 10_000
const N_MAX = 4_294_967_295
const FIELDS = ['op', 'n', 'channel', 'symbols', 'interval', 'expiration']

export interface MarketSessionDeps {
  readonly mailbox: Mailbox
  /** Counts the line to its login, or says why not. */
  readonly enrol: () => Denied | undefined
  /** Begins to give the mailbox what is wanted. @returns false where there is no such thing */
  readonly add: (wanted: Wanted) => boolean
  readonly drop: (wanted: Wanted) => void
  readonly heartbeatMs: number
  readonly stamp: () => string
  readonly houseTime: () => string
}

export class MarketSession implements Talk {
  readonly garbled = '{"seq":0,"items":[{"t":'
  readonly #line: Line
  readonly #deps: MarketSessionDeps
  readonly #wanted = new Map<string, Wanted>()

  constructor(line: Line, deps: MarketSessionDeps) {
    this.#line = line
    this.#deps = deps
  }

  get seq(): number {
    return this.#deps.mailbox.seq
  }

  join(): { readonly ready: object } | Denied {
    const denied = this.#deps.enrol()
    if (denied !== undefined) return denied
    const { heartbeatMs, stamp, houseTime } = this.#deps
    const login = this.#line.pass?.login ?? ''
    return { ready: { ev: 'ready', login, heartbeat_ms: heartbeatMs, as_of: stamp(), house_time: houseTime() } }
  }

  joined(): void {
    // Nothing is given before it is asked for.
  }

  hear(op: string, message: unknown): void {
    try {
      const { n, wanted } = askedOf(message)
      if (op === 'add') this.#add(n, wanted)
      else this.#drop(n, wanted)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.#line.say({ ev: 'problem', n: nOf(message), code: error.code, message: error.message })
    }
  }

  /** The line has gone. */
  left(): void {
    for (const wanted of this.#wanted.values()) this.#deps.drop(wanted)
    this.#wanted.clear()
    this.#deps.mailbox.end()
  }

  #add(n: number, asked: readonly Wanted[]): void {
    const fresh = asked.filter(wanted => !this.#wanted.has(keyOf(wanted)))
    if (this.#wanted.size + fresh.length > WANTED_MAX)
      throw new Problem('too_many_symbols', `a stream may have ${WANTED_MAX} symbols over all channels, and has ${this.#wanted.size}`)
    const unknown = new Set<string>()
    for (const wanted of fresh) {
      if (this.#deps.add(wanted)) this.#wanted.set(keyOf(wanted), wanted)
      else unknown.add(wanted.symbol)
    }
    const symbols = asked.map(({ symbol }) => symbol).filter(symbol => !unknown.has(symbol))
    // What has been given meanwhile leaves at the end of this turn, so behind the answer.
    this.#line.say({ ev: 'added', n, symbols, unknown: [...unknown] })
  }

  #drop(n: number, asked: readonly Wanted[]): void {
    for (const wanted of asked) if (this.#wanted.delete(keyOf(wanted))) this.#deps.drop(wanted)
    this.#line.say({ ev: 'dropped', n })
  }
}

function askedOf(message: unknown): { readonly n: number; readonly wanted: readonly Wanted[] } {
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
