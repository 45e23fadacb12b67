/** One login's calls to a broker: applies the rate limit and the token, sends once, and distinguishes refused, not sent and unknown. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { epochMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Outcome } from '@trunkline/core/ports/broker'
import { brokerNowMs, type HttpClient, type HttpReply, type HttpRequest, retryAfterMs, TransportFault } from './http.ts'
import { type BrokerLimits, type CallPriority, RateLimitExceeded, type RateLimiter } from './rate-limiter.ts'
import { type RetryDeps, type RetryPolicy, withRetries } from './retry.ts'
import type { TokenSource } from './tokens.ts'

export interface CallOptions {
  readonly http: HttpClient
  /** A path prefix for every request, without a trailing slash. */
  readonly base?: string
  readonly tokens: TokenSource
  /** Whether commands may be sent, right before their first byte. Default: always. */
  readonly mayCommand?: () => boolean
  /** Every one must have capacity: first the login's own for requests of this class, then the broker's for all logins. */
  readonly limiters: readonly RateLimiter[]
  readonly retries: RetryPolicy
  readonly deps: RetryDeps
  /** Headers that carry the token, names and values alternating. */
  readonly authorize: (token: string) => readonly string[]
  /** Whether an answer means that the access token is invalid. */
  readonly unauthorized: (reply: HttpReply) => boolean
  /**
   * For unsuccessful answers that the broker also gives when nothing is wrong: a read is repeated, and then fails with this kind of fault.
   * Null: the status decides.
   */
  readonly transient?: (reply: HttpReply) => 'unreachable' | 'refused' | null
  /** The pause that a 429 demands, in milliseconds, for brokers that do not state it in `Retry-After`. */
  readonly requestedPauseMs?: (reply: HttpReply, nowMs: number) => number | null
  /**
   * The remaining quota that the broker reports with an answer; null when it reports none. The first limiter respects it. `nowMs` is the
   * broker's own clock if the answer has a date.
   */
  readonly limits?: (reply: HttpReply, nowMs: number) => BrokerLimits | null
  /** The broker's message in an unsuccessful answer; never a secret. */
  readonly errorMessage: (reply: HttpReply) => string
}

export interface ReadOptions {
  /** Statuses, besides the successes, that `parse` handles itself. */
  readonly also?: readonly number[]
  /** `order` for a read that an order waits for: it has the priority of orders. */
  readonly kind?: CallPriority
}

/** A broker's acceptance, or its refusal with evidence. */
export type Answered<T> = Extract<Outcome<T>, { readonly kind: 'accepted' | 'refused' }>

const RETRY_AFTER_MS_DEFAULT = 1_000

export class Calls {
  readonly #options: CallOptions

  constructor(options: CallOptions) {
    this.#options = options
  }

  /**
   * Reads, with bounded retries. `parse` receives only successes and the statuses in `also`; a Malformed that it throws becomes a fault.
   * @throws BrokerFault
   */
  read<T>(request: HttpRequest, parse: (reply: HttpReply) => T, signal: AbortSignal, options: ReadOptions = {}): Promise<T> {
    const { retries, deps, tokens } = this.#options
    const { also = [], kind = 'read' } = options
    const read = withRetries(
      retries,
      deps,
      async () => {
        const reply = await tokens.withToken(token => this.#ask(request, token, kind, signal), signal)
        if (!isSuccess(reply.status) && !also.includes(reply.status)) throw this.fault(reply)
        return parsed(parse, reply)
      },
      signal
    )
    return this.#options.transient === undefined ? read : read.catch(withoutRetries)
  }

  /**
   * Sends a command at most once. If `request` throws, because the command cannot be expressed in the broker's API, the outcome is
   * `not_sent`. `interpret` recognizes the answers that prove acceptance or refusal; if it throws, the outcome is `unknown`. Never rejects.
   */
  async command<T>(
    request: HttpRequest | (() => HttpRequest | Promise<HttpRequest>),
    interpret: (reply: HttpReply) => Outcome<T>,
    signal: AbortSignal
  ): Promise<Outcome<T>> {
    let written: HttpRequest
    let token: string
    let number: number
    try {
      const made = typeof request === 'function' ? request() : request
      written = made instanceof Promise ? await made : made
      const taken = this.#take('order', signal)
      number = typeof taken === 'number' ? taken : await taken
      token = this.#options.tokens.fresh() ?? (await this.#options.tokens.current(signal))
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    try {
      const reply = await this.#options.http.send(this.#signed(written, token), signal, this.#options.mayCommand)
      this.#applyLimits(reply, number)
      if (this.#options.unauthorized(reply)) await this.#options.tokens.replacement(token, signal).catch(() => undefined)
      return interpret(reply)
    } catch (cause) {
      return cause instanceof TransportFault && cause.sent === 'none' ? { kind: 'not_sent', cause } : { kind: 'unknown', cause }
    }
  }

  /**
   * Sends a request that is not a command, once; only a request rejected for its token is repeated. It has the priority of reads, so it
   * takes no capacity from orders. `interpret` is as in {@link command}; an undecided answer, or a Malformed that it throws, is a fault.
   * @throws BrokerFault
   */
  async ask<T>(request: HttpRequest, interpret: (reply: HttpReply) => Outcome<T>, signal: AbortSignal): Promise<Answered<T>> {
    const reply = await this.#options.tokens.withToken(token => this.#ask(request, token, 'read', signal), signal)
    if (reply.status === 401 || reply.status === 429) throw this.fault(reply)
    const outcome = parsed(interpret, reply)
    if (outcome.kind === 'accepted' || outcome.kind === 'refused') return outcome
    const fault = this.fault(reply)
    // An answer that decides nothing is no refusal, whatever its status.
    if (!isSuccess(reply.status) && fault.kind !== 'refused') throw fault
    throw new BrokerFault(
      'unreachable',
      outcome.cause instanceof Error ? outcome.cause.message : 'the broker’s answer proves neither acceptance nor refusal'
    )
  }

  async #ask(
    request: HttpRequest,
    token: string,
    kind: CallPriority,
    signal: AbortSignal
  ): Promise<{ unauthorized: boolean; result: HttpReply }> {
    try {
      const number = await this.#take(kind, signal)
      const result = await this.#options.http.send(this.#signed(request, token), signal)
      this.#applyLimits(result, number)
      return { unauthorized: this.#options.unauthorized(result), result }
    } catch (cause) {
      throw faultOf(cause)
    }
  }

  /** Takes one call from every limiter. Returns its number at the first; synchronously when there is capacity. */
  #take(kind: CallPriority, signal: AbortSignal): number | Promise<number> {
    const { limiters } = this.#options
    const short = limiters.findIndex(limiter => !limiter.tryTake(kind))
    const number = limiters[0]?.taken ?? 0
    return short === -1 ? number : this.#wait(kind, signal, { short, number })
  }

  /** Waits from the first limiter that was short; those before it have been taken. */
  async #wait(kind: CallPriority, signal: AbortSignal, { short, number }: { short: number; number: number }): Promise<number> {
    const [first, ...others] = this.#options.limiters.slice(short)
    const waited = await first?.take(kind, signal)
    for (const limiter of others) if (!limiter.tryTake(kind)) await limiter.take(kind, signal)
    return short === 0 && waited !== undefined ? waited : number
  }

  #signed(request: HttpRequest, token: string): HttpRequest {
    const { authorize, base } = this.#options
    const headers = [...authorize(token), ...request.headers]
    return base === undefined ? { ...request, headers } : { ...request, path: base + request.path, headers }
  }

  /** After a 429, this login sends nothing for as long as the broker demands. Other logins have their own limits. */
  #applyLimits(reply: HttpReply, number: number): void {
    const [own] = this.#options.limiters
    if (own === undefined) return
    const limits = this.#options.limits?.(reply, this.#nowMs(reply)) ?? null
    if (limits !== null) own.applyLimits(limits, number)
    if (reply.status === 429) own.pause(this.#pauseMs(reply))
  }

  #nowMs(reply: HttpReply): number {
    return brokerNowMs(reply) ?? epochMs(this.#options.deps.clock.now())
  }

  /** If the broker does not state a pause, the time until its limit resets. */
  #pauseMs(reply: HttpReply): number {
    const { requestedPauseMs = retryAfterMs, limits } = this.#options
    const nowMs = this.#nowMs(reply)
    return requestedPauseMs(reply, nowMs) ?? limits?.(reply, nowMs)?.resetInMs ?? RETRY_AFTER_MS_DEFAULT
  }

  /**
   * Whether the broker accepts an access token, by a small read that every login may make. @throws BrokerFault when its answer decides
   * nothing
   */
  async accepts(token: string, request: HttpRequest, signal: AbortSignal): Promise<boolean> {
    const { unauthorized, result } = await this.#ask(request, token, 'read', signal)
    if (unauthorized) return false
    if (isSuccess(result.status)) return true
    throw new BrokerFault('unreachable', `the broker answered ${result.status} when asked whether it accepts the access token`)
  }

  /** The fault of an unsuccessful answer to a read. */
  fault(reply: HttpReply): BrokerFault {
    const detail = this.#options.errorMessage(reply)
    const message = `the broker answered ${reply.status}${detail === '' ? '' : `: ${detail}`}`
    if (reply.status === 429) return new BrokerFault('rate_limited', message, { retryAfterMs: this.#pauseMs(reply) })
    const transient = this.#options.transient?.(reply) ?? null
    if (transient !== null) return new TransientFault(transient, message)
    // 408 and 425 demand a retry, and a redirect comes from a gateway: none of them says anything about the request.
    if (reply.status >= 500 || reply.status < 400 || reply.status === 408 || reply.status === 425)
      return new BrokerFault('unreachable', message)
    return new BrokerFault('refused', message)
  }
}

/** An answer that may be another one the next time. */
class TransientFault extends BrokerFault {
  /** What it is once it was repeated in vain. */
  readonly lasting: 'unreachable' | 'refused'

  constructor(lasting: 'unreachable' | 'refused', message: string) {
    super('unreachable', message)
    this.lasting = lasting
  }
}

function withoutRetries(fault: unknown): never {
  throw fault instanceof TransientFault ? new BrokerFault(fault.lasting, fault.message) : fault
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function parsed<T>(parse: (reply: HttpReply) => T, reply: HttpReply): T {
  try {
    return parse(reply)
  } catch (cause) {
    if (!(cause instanceof Malformed)) throw cause
    throw new BrokerFault('malformed', `the broker's answer cannot be read: ${cause.message}`, { cause })
  }
}

/** The port's fault for the cause that left a read unanswered. */
export function faultOf(cause: unknown): BrokerFault {
  if (cause instanceof BrokerFault) return cause
  if (cause instanceof RateLimitExceeded) return new BrokerFault('rate_limited', cause.message, { cause, retryAfterMs: cause.retryAfterMs })
  if (cause instanceof TransportFault)
    return new BrokerFault(cause.reason === 'too_large' || cause.reason === 'unreadable' ? 'malformed' : 'unreachable', cause.message, {
      cause
    })
  return new BrokerFault('unreachable', 'the broker could not be reached', { cause })
}
