/** One login's calls, each class with its own limit, and what becomes of a 401 that says nothing about the token. */

import { BrokerFault, type Outcome } from '@trunkline/core/ports/broker'
import { type BrokerLimits, type BudgetRates, RateBudget } from '../kit/budget.ts'
import { type CallOptions, Calls, isSuccess, type ReadOptions } from '../kit/calls.ts'
import { type HttpReply, type HttpRequest, header } from '../kit/http.ts'
import type { TokenSource } from '../kit/tokens.ts'
import { complaintOf, wordsFor } from './errors.ts'
import type { Trial } from './trial.ts'

/** Requests that Tradier counts together, each a minute from the first on. */
export type CallClass = 'standard' | 'market' | 'trading'

export type ClassRates = { readonly [of in CallClass]: BudgetRates }

export interface TradierCallOptions extends Omit<CallOptions, 'budgets' | 'limits'> {
  readonly tokens: TokenSource
  readonly rates: ClassRates
  readonly trial: Trial
}

/** An answer that Tradier also gives when nothing is wrong: a 401 that does not name the token, a 404, a gateway in trouble. Repeating it may help. */
class Doubted extends BrokerFault {
  readonly reply: HttpReply

  constructor(reply: HttpReply) {
    super('unreachable', `Tradier answered ${reply.status} ${wordsFor(reply)}`.trim())
    this.reply = reply
  }
}

/** Complaints that have to be read before they are believed. */
const COMPLAINTS = [400, 401, 403, 404]

export class TradierCalls implements Disposable {
  readonly #options: TradierCallOptions
  readonly #budgets: { readonly [of in CallClass]: RateBudget }
  readonly #calls: { readonly [of in CallClass]: Calls }

  constructor(options: TradierCallOptions) {
    const { rates, deps } = options
    const budget = (of: CallClass) => new RateBudget(rates[of], deps.clock)
    this.#options = options
    this.#budgets = { standard: budget('standard'), market: budget('market'), trading: budget('trading') }
    const calls = (of: CallClass) => new Calls({ ...options, budgets: [this.#budgets[of]], limits: limitsOf })
    this.#calls = { standard: calls('standard'), market: calls('market'), trading: calls('trading') }
  }

  /** As {@link Calls.read}. @throws BrokerFault */
  async read<T>(
    of: 'standard' | 'market',
    request: HttpRequest,
    parse: (reply: HttpReply) => T,
    signal: AbortSignal,
    { also = [], ...options }: ReadOptions = {}
  ): Promise<T> {
    const believing = (reply: HttpReply) => {
      const { status } = reply
      if (isSuccess(status)) return parse(reply)
      if (status === 401 || complaintOf(reply).form === 'fault') throw new Doubted(reply)
      if (also.includes(status)) return parse(reply)
      if (status === 404) throw new Doubted(reply)
      throw new BrokerFault('refused', `Tradier answered ${status} ${wordsFor(reply)}`.trim())
    }
    try {
      return await this.#calls[of].read(request, believing, signal, { ...options, also: COMPLAINTS })
    } catch (cause) {
      if (!(cause instanceof Doubted)) throw cause
      const { status } = cause.reply
      if (status === 401) throw await this.#verdict(cause, signal)
      throw status === 404 ? new BrokerFault('refused', cause.message) : cause
    }
  }

  command<T>(request: HttpRequest, interpret: (reply: HttpReply) => Outcome<T>, signal: AbortSignal): Promise<Outcome<T>> {
    return this.#calls.trading.command(request, interpret, signal)
  }

  [Symbol.dispose](): void {
    for (const budget of Object.values(this.#budgets)) budget[Symbol.dispose]()
  }

  /** A login that may see its profile is good, and was refused something else. */
  async #verdict({ reply }: Doubted, signal: AbortSignal): Promise<BrokerFault> {
    const { tokens, trial } = this.#options
    try {
      const token = await tokens.current(signal)
      if (await trial.isGood(token, signal))
        return new BrokerFault('refused', `Tradier does not allow this: ${wordsFor(reply) || 'it answered 401'}`)
      const next = await tokens.replacement(token, signal)
      if (await trial.isGood(next, signal)) return new BrokerFault('unreachable', 'Tradier refused the access token and takes the next one')
      return new BrokerFault('credentials_rejected', 'Tradier refuses every access token of this login')
    } catch (cause) {
      return cause instanceof BrokerFault ? cause : new BrokerFault('unreachable', 'the login could not be tried', { cause })
    }
  }
}

/** An end that is earlier than this is in seconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** What Tradier says with every answer is left of the minute. */
export function limitsOf(reply: HttpReply, nowMs: number): BrokerLimits | null {
  const available = count(reply, 'x-ratelimit-available')
  const expiry = count(reply, 'x-ratelimit-expiry')
  if (available === null || expiry === null) return null
  return { remaining: available, resetInMs: Math.max(0, (expiry < MILLISECONDS_FROM ? expiry * 1_000 : expiry) - nowMs) }
}

function count(reply: HttpReply, name: string): number | null {
  const value = header(reply, name)?.trim() ?? ''
  return /^\d{1,16}$/.test(value) ? Number(value) : null
}
