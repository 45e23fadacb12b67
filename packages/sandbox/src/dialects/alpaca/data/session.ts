/** One client's session on a data stream: authentication, and its subscriptions. */

import { Problem } from '../../frame/brokerage.ts'
import type { Channels, Reader } from './channels.ts'

/** What Alpaca answers to what cannot be done. */
export const ERRORS = {
  invalid_syntax: [400, 'invalid syntax'],
  not_authenticated: [401, 'not authenticated'],
  auth_failed: [402, 'auth failed'],
  already_authenticated: [403, 'already authenticated'],
  auth_timeout: [404, 'auth timeout'],
  symbol_limit: [405, 'symbol limit exceeded'],
  connection_limit: [406, 'connection limit exceeded'],
  slow_client: [407, 'slow client'],
  invalid_action: [410, 'invalid subscribe action for this feed'],
  insufficient_scope: [411, 'insufficient scope']
} as const
export type StreamError = keyof typeof ERRORS

export function errorFrame(error: StreamError): string {
  const [code, msg] = ERRORS[error]
  return JSON.stringify([{ T: 'error', code, msg }])
}

export function successFrame(msg: 'connected' | 'authenticated'): string {
  return JSON.stringify([{ T: 'success', msg }])
}

/** A subscription to trades includes their corrections. */
const IMPLIED: readonly string[] = ['corrections', 'cancelErrors']
const SYMBOL = /^[\x21-\x7e]{1,40}$/

export interface SubscriptionDeps {
  readonly names: readonly string[]
  readonly channels: Channels
  readonly reader: Reader
  /** Symbols that trades and quotes may have together. */
  readonly symbolsMax: number
}

/** What one client is given. */
export class Subscription {
  readonly #deps: SubscriptionDeps
  readonly #subscribed: Map<string, Set<string>>

  constructor(deps: SubscriptionDeps) {
    this.#deps = deps
    this.#subscribed = new Map(deps.names.map(name => [name, new Set()]))
  }

  /** The whole subscription, or what is wrong; then nothing has changed. */
  change(action: 'subscribe' | 'unsubscribe', message: Readonly<Record<string, unknown>>): StreamError | null {
    const wanted = this.#read(message)
    if (typeof wanted === 'string') return wanted
    if (action === 'unsubscribe') {
      for (const [name, symbols] of wanted) this.#drop(name, symbols)
      return null
    }
    if (this.#counted(wanted) > this.#deps.symbolsMax) return 'symbol_limit'
    try {
      for (const [name, symbols] of wanted) this.#add(name, symbols)
      return null
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      for (const [name, symbols] of wanted) this.#drop(name, symbols)
      return 'symbol_limit'
    }
  }

  shown(): string {
    return JSON.stringify([
      { T: 'subscription', ...Object.fromEntries([...this.#subscribed].map(([name, symbols]) => [name, [...symbols]])) }
    ])
  }

  end(): void {
    for (const [name, symbols] of this.#subscribed) this.#drop(name, [...symbols])
  }

  #read(message: Readonly<Record<string, unknown>>): ReadonlyMap<string, readonly string[]> | StreamError {
    const wanted = new Map<string, readonly string[]>()
    for (const [name, symbols] of Object.entries(message)) {
      if (name === 'action') continue
      if (!this.#subscribed.has(name) || IMPLIED.includes(name)) return 'invalid_action'
      if (!Array.isArray(symbols)) return 'invalid_syntax'
      if (!symbols.every(symbol => typeof symbol === 'string' && SYMBOL.test(symbol))) return 'invalid_syntax'
      wanted.set(name, symbols)
      if (name === 'trades') for (const implied of IMPLIED) if (this.#subscribed.has(implied)) wanted.set(implied, symbols)
    }
    return wanted.size === 0 ? 'invalid_syntax' : wanted
  }

  #counted(wanted: ReadonlyMap<string, readonly string[]>): number {
    return ['trades', 'quotes'].reduce(
      (sum, name) => sum + new Set([...(this.#subscribed.get(name) ?? []), ...(wanted.get(name) ?? [])]).size,
      0
    )
  }

  #add(name: string, symbols: readonly string[]): void {
    const subscribed = this.#subscribed.get(name)
    for (const symbol of symbols) {
      if (subscribed === undefined || subscribed.has(symbol)) continue
      subscribed.add(symbol)
      this.#deps.channels.add(name, symbol, this.#deps.reader)
    }
  }

  #drop(name: string, symbols: readonly string[]): void {
    const subscribed = this.#subscribed.get(name)
    for (const symbol of symbols) if (subscribed?.delete(symbol) === true) this.#deps.channels.drop(name, symbol, this.#deps.reader)
  }
}
