/** One login's calls, each class with its own limit; what Tradier refuses temporarily is repeated. */

import { BrokerFault, type Outcome } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { type Answered, type CallOptions, Calls, isSuccess, type ReadOptions } from '../kit/calls.ts'
import { type HttpReply, type HttpRequest, header } from '../kit/http.ts'
import { type BrokerLimits, RateLimiter, type RateLimits } from '../kit/rate-limiter.ts'
import { complaintOf, errorMessageOf } from './errors.ts'
import { isPreview } from './requests.ts'

/** Requests that Tradier counts together, each a minute from the first on. */
export type CallClass = 'standard' | 'market' | 'trading'

export type ClassRates = { readonly [of in CallClass]: RateLimits }
export type ClassLimiters = { readonly [of in CallClass]: RateLimiter }

export function classLimiters(rates: ClassRates, clock: Clock): ClassLimiters {
  const limiter = (of: CallClass) => new RateLimiter(rates[of], clock)
  return { standard: limiter('standard'), market: limiter('market'), trading: limiter('trading') }
}

export interface TradierCallOptions extends Omit<CallOptions, 'limiters' | 'limits'> {
  readonly limiters: ClassLimiters
}

/** An answer that Tradier also gives when nothing is wrong: a 404, a failing gateway. Repeating it may help. */
class UnconfirmedError extends BrokerFault {
  readonly reply: HttpReply

  constructor(reply: HttpReply) {
    super('unreachable', `Tradier answered ${reply.status} ${errorMessageOf(reply)}`.trim())
    this.reply = reply
  }
}

/** Complaints that have to be read before they are believed. */
const COMPLAINTS = [400, 401, 403, 404]

export class TradierCalls implements Disposable {
  readonly #limiters: ClassLimiters
  readonly #calls: { readonly [of in CallClass]: Calls }

  constructor({ limiters, ...options }: TradierCallOptions) {
    const calls = (of: CallClass) => new Calls({ ...options, limiters: [limiters[of]], limits: limitsOf })
    this.#limiters = limiters
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
      if (also.includes(status) && complaintOf(reply).form !== 'fault') return parse(reply)
      if (status === 404 || complaintOf(reply).form === 'fault') throw new UnconfirmedError(reply)
      throw new BrokerFault('refused', `Tradier answered ${status} ${errorMessageOf(reply)}`.trim())
    }
    try {
      return await this.#calls[of].read(request, believing, signal, { ...options, also: COMPLAINTS })
    } catch (cause) {
      if (!(cause instanceof UnconfirmedError)) throw cause
      throw cause.reply.status === 404 ? new BrokerFault('refused', cause.message) : cause
    }
  }

  command<T>(request: HttpRequest, interpret: (reply: HttpReply) => Outcome<T>, signal: AbortSignal): Promise<Outcome<T>> {
    return this.#calls.trading.command(request, interpret, signal)
  }

  /** As {@link Calls.ask}, of the orders' limit. @throws TypeError for what would place an order; BrokerFault */
  async preview<T>(request: HttpRequest, interpret: (reply: HttpReply) => Outcome<T>, signal: AbortSignal): Promise<Answered<T>> {
    if (!isPreview(request)) throw new TypeError('a request that does not begin with preview=true is an order')
    return await this.#calls.trading.ask(request, interpret, signal)
  }

  [Symbol.dispose](): void {
    for (const limiter of Object.values(this.#limiters)) limiter[Symbol.dispose]()
  }
}

/** An end that is earlier than this is in seconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** What Tradier reports with every answer as left of the minute. */
export function limitsOf(reply: HttpReply, nowMs: number): BrokerLimits | null {
  const available = count(reply, 'x-ratelimit-available')
  const expiry = count(reply, 'x-ratelimit-expiry')
  if (available === null || expiry === null) return null
  const resetInMs = Math.max(0, (expiry < MILLISECONDS_FROM ? expiry * 1_000 : expiry) - nowMs)
  const allowed = count(reply, 'x-ratelimit-allowed')
  return { remaining: available, resetInMs, ...(allowed === null ? {} : { limit: allowed }) }
}

function count(reply: HttpReply, name: string): number | null {
  const value = header(reply, name)?.trim() ?? ''
  return /^\d{1,16}$/.test(value) ? Number(value) : null
}
