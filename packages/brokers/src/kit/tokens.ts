/** The access token of one login: at hand without a wait, renewed ahead of its end, once for everybody. */

import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials, type CredentialsHolder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'

/** What an adapter's credentials hold. Null: the broker sets no end. */
export interface AccessToken {
  readonly token: string
  readonly issuedAt: Timestamp | null
  readonly expiresAt: Timestamp | null
}

export interface TokenOptions {
  readonly holder: CredentialsHolder
  readonly clock: Clock
  readonly log: Log
  /** @throws Malformed */
  readonly tokenOf: (credentials: Credentials) => AccessToken
  /** Asks the broker for new credentials. @throws BrokerFault; `credentials_rejected` only when the broker refused the grant itself. */
  readonly refresh: (credentials: Credentials, signal: AbortSignal) => Promise<Credentials>
}

/** Part of its life after which a token is renewed in the background. */
const RENEW_AT = 0.8
/** Before its end a token is no longer used, because it must survive the way to the broker. */
const MARGIN_MS = 2_000
const RENEW_LIMIT_MS = 20_000
const QUIET_AFTER_FAILURE_MS = 5_000
/** A 401 may mean that another process's token is old news as well, hence more than one round. */
const ROUNDS_MAX = 3

interface Held {
  readonly credentials: Credentials
  readonly token: string
  /** On the monotonic clock; infinite when the token does not expire. */
  readonly renewAtMs: number
  readonly uselessAtMs: number
  /** When this process obtained it from the broker itself; -1 when somebody else did. */
  readonly mintedAtMs: number
}

export class TokenSource implements AsyncDisposable {
  readonly #options: TokenOptions
  /** Ends the work under way when the login is closed; there is one login per connection, and seldom work. */
  #closing: AbortController | null = null
  #isClosed = false
  #held: Held | null = null
  #work: Promise<Held> | null = null
  #rejected: BrokerFault | null = null
  #quietUntilMs = 0

  constructor(options: TokenOptions) {
    this.#options = options
  }

  /** The token when one is at hand; null when {@link current} must be awaited. For the hot path: no promise, no store. */
  fresh(): string | null {
    if (this.#held === null || this.#rejected !== null) return null
    const now = this.#options.clock.monotonicMs()
    if (now >= this.#held.uselessAtMs) return null
    if (now >= this.#held.renewAtMs) this.#renewAhead(now, this.#held)
    return this.#held.token
  }

  /** A usable token. @throws BrokerFault */
  async current(signal: AbortSignal): Promise<string> {
    const token = this.fresh()
    if (token !== null) return token
    const held = await this.#shared(this.#held === null ? () => this.#load() : () => this.#renewed(this.#held), signal)
    return held.token
  }

  /** Milliseconds until {@link fresh} would begin to renew; never negative, infinite without an end. */
  renewsInMs(): number {
    return this.#held === null ? 0 : Math.max(0, this.#held.renewAtMs - this.#options.clock.monotonicMs())
  }

  /** The broker answered 401 to `token`. Gives the next one to try. @throws BrokerFault */
  async replacement(token: string, signal: AbortSignal): Promise<string> {
    if (this.#rejected !== null) throw this.#rejected
    if (this.#held !== null && this.#held.token !== token) return this.#held.token
    return (await this.#shared(() => this.#renewed(this.#held), signal)).token
  }

  /**
   * Runs `call` with a token, and again with a newer one after each 401. A 401 to a token that this process obtained after the first
   * one is the broker's definitive word. @throws BrokerFault
   */
  async withToken<T>(
    call: (token: string) => Promise<{ readonly unauthorized: boolean; readonly result: T }>,
    signal: AbortSignal
  ): Promise<T> {
    let token = await this.current(signal)
    const startedAtMs = this.#options.clock.monotonicMs()
    for (let round = 1; ; round += 1) {
      const answer = await call(token)
      if (!answer.unauthorized) return answer.result
      if (round > 1 && this.#held !== null && this.#held.token === token && this.#held.mintedAtMs >= startedAtMs)
        throw this.#reject(new BrokerFault('credentials_rejected', 'the broker refused an access token it had just issued'))
      if (round === ROUNDS_MAX) throw new BrokerFault('unreachable', 'the broker refused every access token at hand')
      token = await this.replacement(token, signal)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#closing?.abort(new Error('the login was closed'))
    await this.#work?.catch(() => undefined)
  }

  #renewAhead(nowMs: number, held: Held): void {
    if (this.#work !== null || nowMs < this.#quietUntilMs) return
    this.#start(() => this.#renewed(held)).catch((error: unknown) => {
      this.#quietUntilMs = this.#options.clock.monotonicMs() + QUIET_AFTER_FAILURE_MS
      this.#options.log.warn('access token could not be renewed ahead of its end', { reason: reasonOf(error) })
    })
  }

  /** Joins the work under way. The work goes on when one who waits for it gives up. */
  async #shared(work: () => Promise<Held>, signal: AbortSignal): Promise<Held> {
    signal.throwIfAborted()
    if (this.#rejected !== null) throw this.#rejected
    const running = this.#work ?? this.#start(work)
    const givenUp = Promise.withResolvers<never>()
    const giveUp = () =>
      givenUp.reject(new BrokerFault('unreachable', 'given up while waiting for an access token', { cause: signal.reason }))
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([running, givenUp.promise])
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #start(work: () => Promise<Held>): Promise<Held> {
    const closing = new AbortController()
    const late = () => closing.abort(new BrokerFault('unreachable', `no access token could be had within ${RENEW_LIMIT_MS} ms`))
    const alarm = this.#options.clock.alarm(RENEW_LIMIT_MS, late)
    this.#closing = closing
    const running = work().finally(() => {
      this.#work = null
      this.#closing = null
      alarm[Symbol.dispose]()
    })
    this.#work = running
    // Everybody who waits may have given up by the time it fails.
    running.catch(() => undefined)
    return running
  }

  async #load(): Promise<Held> {
    const held = this.#hold(await this.#options.holder.read(this.#limit()), -1)
    return this.#options.clock.monotonicMs() < held.uselessAtMs ? held : await this.#renewed(held)
  }

  async #renewed(held: Held | null): Promise<Held> {
    const used = held?.credentials ?? (await this.#options.holder.read(this.#limit()))
    let minted: Credentials | null = null
    try {
      const newest = await this.#options.holder.renew(
        used,
        async (current, signal) => {
          minted = await this.#options.refresh(current, signal)
          return minted
        },
        this.#limit()
      )
      return this.#hold(newest, minted === null ? -1 : this.#options.clock.monotonicMs())
    } catch (error) {
      if (error instanceof BrokerFault && error.kind === 'credentials_rejected') throw this.#reject(error)
      throw error instanceof BrokerFault ? error : new BrokerFault('unreachable', 'the access token could not be renewed', { cause: error })
    }
  }

  #hold(credentials: Credentials, mintedAtMs: number): Held {
    const { token, issuedAt, expiresAt } = this.#options.tokenOf(credentials)
    const monotonic = this.#options.clock.monotonicMs()
    const now = epochMs(this.#options.clock.now())
    const endsInMs = expiresAt === null ? Number.POSITIVE_INFINITY : epochMs(expiresAt) - now
    const lifeMs = expiresAt === null || issuedAt === null ? endsInMs : epochMs(expiresAt) - epochMs(issuedAt)
    const renewInMs = endsInMs === Number.POSITIVE_INFINITY ? endsInMs : endsInMs - lifeMs * (1 - RENEW_AT)
    this.#held = {
      credentials,
      token,
      renewAtMs: monotonic + renewInMs,
      uselessAtMs: monotonic + endsInMs - Math.min(MARGIN_MS, lifeMs * (1 - RENEW_AT)),
      mintedAtMs
    }
    return this.#held
  }

  #reject(fault: BrokerFault): BrokerFault {
    this.#rejected = fault
    return fault
  }

  #limit(): AbortSignal {
    if (this.#isClosed || this.#closing === null) throw new BrokerFault('unreachable', 'the login was closed')
    return this.#closing.signal
  }
}

function reasonOf(error: unknown): string {
  return error instanceof BrokerFault ? error.kind : error instanceof Error ? error.name : 'unknown'
}
