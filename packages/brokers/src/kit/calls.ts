/** One login's calls to a broker: budget, token, one send, and the difference between refused, not sent and unknown. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { epochMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Outcome } from '@trunkline/core/ports/broker'
import { BudgetSpent, type RateBudget } from './budget.ts'
import { type HttpClient, type HttpReply, type HttpRequest, retryAfterMs, TransportFault } from './http.ts'
import { type RetryDeps, type RetryPolicy, withRetries } from './retry.ts'
import type { TokenSource } from './tokens.ts'

export interface CallOptions {
  readonly http: HttpClient
  readonly tokens: TokenSource
  /** Every one must have room: the login's own, the broker's for all logins. */
  readonly budgets: readonly RateBudget[]
  readonly retries: RetryPolicy
  readonly deps: RetryDeps
  /** Headers that carry the token, names and values in turn. */
  readonly authorize: (token: string) => readonly string[]
  /** Whether an answer says that the access token is not (or no longer) valid. */
  readonly unauthorized: (reply: HttpReply) => boolean
  /** How long a 429 asks us to wait, in milliseconds, where the broker says it otherwise than by `Retry-After`. */
  readonly pauseAsked?: (reply: HttpReply, nowMs: number) => number | null
  /** What the broker says for people in an answer that is not a success; never a secret. */
  readonly words: (reply: HttpReply) => string
}

const RETRY_AFTER_MS_DEFAULT = 1_000

export class Calls {
  readonly #options: CallOptions

  constructor(options: CallOptions) {
    this.#options = options
  }

  /**
   * Reads, with bounded repetition. `parse` sees successes and the statuses in `also` only; what it throws as Malformed is a fault.
   * @throws BrokerFault
   */
  read<T>(request: HttpRequest, parse: (reply: HttpReply) => T, signal: AbortSignal, also: readonly number[] = []): Promise<T> {
    const { retries, deps, tokens } = this.#options
    return withRetries(
      retries,
      deps,
      async () => {
        const reply = await tokens.withToken(token => this.#ask(request, token, signal), signal)
        if (!isSuccess(reply.status) && !also.includes(reply.status)) throw this.#fault(reply)
        return parsed(parse, reply)
      },
      signal
    )
  }

  /**
   * Sends a command at most once. `interpret` names the answers that prove acceptance or refusal; whatever it throws is `unknown`.
   * Never rejects.
   */
  async command<T>(request: HttpRequest, interpret: (reply: HttpReply) => Outcome<T>, signal: AbortSignal): Promise<Outcome<T>> {
    let token: string
    try {
      const spent = this.#options.budgets.find(budget => !budget.tryTake('order'))
      if (spent !== undefined) await this.#take('order', signal, spent)
      token = this.#options.tokens.fresh() ?? (await this.#options.tokens.current(signal))
    } catch (cause) {
      return { kind: 'not_sent', cause }
    }
    try {
      const reply = await this.#options.http.send(this.#signed(request, token), signal)
      this.#heed(reply)
      if (this.#options.unauthorized(reply)) await this.#options.tokens.replacement(token, signal).catch(() => undefined)
      return interpret(reply)
    } catch (cause) {
      return cause instanceof TransportFault && cause.sent === 'none' ? { kind: 'not_sent', cause } : { kind: 'unknown', cause }
    }
  }

  async #ask(request: HttpRequest, token: string, signal: AbortSignal): Promise<{ unauthorized: boolean; result: HttpReply }> {
    try {
      await this.#take('read', signal)
      const result = await this.#options.http.send(this.#signed(request, token), signal)
      this.#heed(result)
      return { unauthorized: this.#options.unauthorized(result), result }
    } catch (cause) {
      throw faultOf(cause)
    }
  }

  /** One call from every budget; `from` is the first that was short, those before it have been taken. */
  async #take(kind: 'order' | 'read', signal: AbortSignal, from?: RateBudget): Promise<void> {
    const { budgets } = this.#options
    for (const budget of budgets.slice(from === undefined ? 0 : budgets.indexOf(from)))
      if (!budget.tryTake(kind)) await budget.take(kind, signal)
  }

  #signed(request: HttpRequest, token: string): HttpRequest {
    return { ...request, headers: [...this.#options.authorize(token), ...request.headers] }
  }

  /** A broker that says 429 is left alone for as long as it asks; only this login, since others have limits of their own. */
  #heed(reply: HttpReply): void {
    if (reply.status === 429) this.#options.budgets[0]?.pause(this.#pauseMs(reply))
  }

  #pauseMs(reply: HttpReply): number {
    return (this.#options.pauseAsked ?? retryAfterMs)(reply, epochMs(this.#options.deps.clock.now())) ?? RETRY_AFTER_MS_DEFAULT
  }

  #fault(reply: HttpReply): BrokerFault {
    const words = this.#options.words(reply)
    const message = `the broker answered ${reply.status}${words === '' ? '' : `: ${words}`}`
    if (reply.status === 429) return new BrokerFault('rate_limited', message, { retryAfterMs: this.#pauseMs(reply) })
    // 408 and 425 ask for a repetition, and a redirect is a gateway's doing: none of them says anything about what was asked for.
    if (reply.status >= 500 || reply.status < 400 || reply.status === 408 || reply.status === 425)
      return new BrokerFault('unreachable', message)
    return new BrokerFault('refused', message)
  }
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

/** Whatever kept a read from being answered, as the port's fault. */
export function faultOf(cause: unknown): BrokerFault {
  if (cause instanceof BrokerFault) return cause
  if (cause instanceof BudgetSpent) return new BrokerFault('rate_limited', cause.message, { cause, retryAfterMs: cause.retryAfterMs })
  if (cause instanceof TransportFault)
    return new BrokerFault(cause.reason === 'too_large' || cause.reason === 'unreadable' ? 'malformed' : 'unreachable', cause.message, {
      cause
    })
  return new BrokerFault('unreachable', 'the broker could not be asked', { cause })
}
