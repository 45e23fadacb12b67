/** The access token of one login: at hand without a wait, renewed ahead of its end, once for everybody. */

import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials, type CredentialsHolder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { TransportFault } from './http.ts'

/** What an adapter's credentials hold. Null: the broker sets no end. */
export interface AccessToken {
  readonly token: string
  readonly issuedAt: Timestamp | null
  readonly expiresAt: Timestamp | null
  /** False: the broker gives no other in exchange, and only the user can give a new one by logging in again. */
  readonly isRenewable?: boolean
}

export interface TokenOptions {
  readonly holder: CredentialsHolder
  readonly clock: Clock
  readonly log: Log
  /** @throws Malformed */
  readonly tokenOf: (credentials: Credentials) => AccessToken
  /** Asks the broker for new credentials. @throws BrokerFault; `credentials_rejected` only when the broker refused the grant itself. */
  readonly refresh: (credentials: Credentials, signal: AbortSignal) => Promise<Credentials>
  /**
   * Requests something from the broker that every login may read: true when it accepts the token. For brokers whose 401 may as well be a passing failure or
   * about the request: unless this confirms it, no 401 counts. @throws BrokerFault when the broker cannot answer.
   */
  readonly confirm?: (token: string, signal: AbortSignal) => Promise<boolean>
}

/** Part of its life after which a token is renewed in the background. */
const RENEW_AT = 0.8
/** Before its end a token is no longer used, because it must survive the way to the broker. */
const MARGIN_MS = 2_000
const RENEW_LIMIT_MS = 20_000
const QUIET_AFTER_FAILURE_MS = 5_000
/** After a refusal that is not believed yet. */
const QUIET_AFTER_REFUSAL_MS = 60_000
/** Lost answers in a row after which a renewal is no longer repeated by itself. */
const LOSSES_MAX = 6
/** Before a refresh whose answer was lost is repeated: shorter than any broker's grace period. */
const REFRESH_AGAIN_MS = 500
/** Between two refusals of an access token that cannot be replaced, before they are believed. */
const CONFIRM_AGAIN_MS = 2_000
/** A 401 may mean that another process's token is outdated as well, hence more than one round. */
const ROUNDS_MAX = 3

interface Held {
  readonly credentials: Credentials
  readonly token: string
  readonly isRenewable: boolean
  /** On the monotonic clock; infinite when the token does not expire. */
  readonly renewAtMs: number
  readonly uselessAtMs: number
  /** When this process obtained it from the broker itself; -1 when another process did. */
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
  /** The newest token that the broker confirmed after it had refused it. */
  #confirmed: { readonly token: string; readonly atMs: number } | null = null
  #quietUntilMs = 0
  #losses = 0
  #again: Disposable | null = null

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
    const held = await this.#shared(this.#held === null ? () => this.#load() : () => this.#renewed(this.#held, false), signal)
    return held.token
  }

  /** Milliseconds until {@link fresh} would begin to renew; never negative, infinite without an end. */
  renewsInMs(): number {
    return this.#held === null ? 0 : Math.max(0, this.#held.renewAtMs - this.#options.clock.monotonicMs())
  }

  /** The broker answered 401 to `token`. Gives the next one to try: the same when the broker then confirms it. @throws BrokerFault */
  async replacement(token: string, signal: AbortSignal): Promise<string> {
    return (await this.#replacement(token, false, signal)).token
  }

  /**
   * Runs `call` with a token, and again with a newer one after each 401. A 401 to a token that this process obtained after the first one is
   * the broker's definitive answer, confirmed where there is a way to. When the broker confirms the token and still answers the call with 401,
   * that answer is the result: it is about the request. @throws BrokerFault
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
      if (this.#confirmed?.token === token && round > 1 && this.#confirmed.atMs >= startedAtMs) return answer.result
      if (round === ROUNDS_MAX) throw new BrokerFault('unreachable', 'the broker refused every access token at hand')
      const isNew = round > 1 && this.#held !== null && this.#held.token === token && this.#held.mintedAtMs >= startedAtMs
      token = (await this.#replacement(token, isNew, signal)).token
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#again?.[Symbol.dispose]()
    this.#closing?.abort(new Error('the login was closed'))
    await this.#work?.catch(() => undefined)
  }

  #renewAhead(nowMs: number, held: Held): void {
    if (this.#work !== null || nowMs < this.#quietUntilMs) return
    this.#start(() => this.#renewed(held, false)).then(
      () => {
        this.#losses = 0
      },
      (error: unknown) => {
        this.#holdOff(QUIET_AFTER_FAILURE_MS)
        this.#options.log.warn('access token could not be renewed ahead of its end', { reason: reasonOf(error) })
        if (isLost(error) && !this.#isClosed) this.#tryAgain()
      }
    )
  }

  /** Soon, and not only when a token is requested: a refresh token spent by a lost answer is accepted for the broker's grace period only. */
  #tryAgain(): void {
    this.#losses += 1
    if (this.#losses > LOSSES_MAX) return
    this.#again?.[Symbol.dispose]()
    this.#again = this.#options.clock.alarm(QUIET_AFTER_FAILURE_MS, () => void this.fresh())
  }

  #holdOff(ms: number): void {
    this.#quietUntilMs = Math.max(this.#quietUntilMs, this.#options.clock.monotonicMs() + ms)
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
    return this.#options.clock.monotonicMs() < held.uselessAtMs ? held : await this.#renewed(held, false)
  }

  /** `isNew`: this process has only just obtained the token, and renewing it again would change nothing. */
  async #replacement(token: string, isNew: boolean, signal: AbortSignal): Promise<Held> {
    if (this.#rejected !== null) throw this.#rejected
    const held = this.#held
    if (held !== null && held.token !== token) return held
    return await this.#shared(() => (held === null ? this.#load() : this.#replaced(held, isNew)), signal)
  }

  async #replaced(held: Held, isNew: boolean): Promise<Held> {
    if (await this.#isTaken(held)) return held
    if (!isNew) return await this.#renewed(held, true)
    return await this.#confirmRejection(
      held,
      new BrokerFault('credentials_rejected', 'the broker refused an access token it had just issued')
    )
  }

  /** Whether the broker confirms a token that it refused; false where that cannot be found out. */
  async #isTaken(held: Held): Promise<boolean> {
    const { confirm, clock } = this.#options
    if (confirm === undefined || !(await confirm(held.token, this.#limit()))) return false
    this.#confirmed = { token: held.token, atMs: clock.monotonicMs() }
    return true
  }

  /** The broker refused a token for which there is no other: the end, unless it takes it a moment later. */
  async #confirmRejection(held: Held, fault: BrokerFault): Promise<Held> {
    if (this.#options.confirm === undefined) throw this.#reject(fault)
    await this.#options.clock.sleep(CONFIRM_AGAIN_MS, this.#limit())
    if (await this.#isTaken(held)) return held
    throw this.#reject(fault)
  }

  async #renewed(held: Held | null, isRefused: boolean): Promise<Held> {
    const used = held?.credentials ?? (await this.#options.holder.read(this.#limit()))
    let minted: Credentials | null = null
    let mayBeSpent = false
    try {
      const newest = await this.#options.holder.renew(
        used,
        async (current, signal, isUncertain = false) => {
          mayBeSpent = isUncertain
          minted = await this.#refreshed(current, signal, () => {
            mayBeSpent = true
          })
          return minted
        },
        this.#limit()
      )
      return this.#hold(newest, minted === null ? -1 : this.#options.clock.monotonicMs())
    } catch (error) {
      if (!(error instanceof BrokerFault)) throw new BrokerFault('unreachable', 'the access token could not be renewed', { cause: error })
      if (error.kind !== 'credentials_rejected') throw error
      return await this.#assessRefusal(error, held, { isRefused, mayBeSpent })
    }
  }

  /**
   * The grant was refused. That is the broker's definitive answer, with two exceptions, which only the expiry of the access token rules out: there
   * was nothing that could be refused, and an earlier refresh whose answer was never read may have been what spent the refresh token.
   */
  async #assessRefusal(
    fault: BrokerFault,
    held: Held | null,
    { isRefused, mayBeSpent }: { isRefused: boolean; mayBeSpent: boolean }
  ): Promise<Held> {
    const isDefinitive = !mayBeSpent && held?.isRenewable !== false
    if (isDefinitive || held === null || this.#options.clock.monotonicMs() >= held.uselessAtMs) throw this.#reject(fault)
    if (isRefused) return await this.#confirmRejection(held, fault)
    this.#holdOff(QUIET_AFTER_REFUSAL_MS)
    throw new BrokerFault('unreachable', 'the access token cannot be renewed; it is used until it ends', { cause: fault })
  }

  /**
   * A broker that rotates refresh tokens has spent the one we sent as soon as it answers, whether or not the answer arrives; within a grace
   * period it gives the same answer again. So a refresh whose answer was lost is repeated once, at once.
   */
  async #refreshed(credentials: Credentials, signal: AbortSignal, onLost: () => void): Promise<Credentials> {
    try {
      return await this.#options.refresh(credentials, signal)
    } catch (error) {
      if (!isLost(error) || signal.aborted) throw error
      onLost()
      await this.#options.clock.sleep(REFRESH_AGAIN_MS, signal)
      return await this.#options.refresh(credentials, signal)
    }
  }

  #hold(credentials: Credentials, mintedAtMs: number): Held {
    const { token, issuedAt, expiresAt, isRenewable = true } = this.#options.tokenOf(credentials)
    const monotonic = this.#options.clock.monotonicMs()
    const now = epochMs(this.#options.clock.now())
    const shownMs = expiresAt === null ? Number.POSITIVE_INFINITY : epochMs(expiresAt) - now
    const lifeMs = expiresAt === null || issuedAt === null ? shownMs : epochMs(expiresAt) - epochMs(issuedAt)
    // It may have been dated by a clock that was set back since: nothing has more left than its whole life.
    const endsInMs = Math.min(shownMs, lifeMs)
    const isLasting = !isRenewable || endsInMs === Number.POSITIVE_INFINITY
    const renewInMs = isLasting ? Number.POSITIVE_INFINITY : endsInMs - lifeMs * (1 - RENEW_AT)
    this.#held = {
      credentials,
      token,
      isRenewable,
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

/** Whether the broker may have carried out the request although its answer is unknown. */
function isLost(error: unknown): boolean {
  if (!(error instanceof BrokerFault)) return false
  return error.kind === 'malformed' || (error.cause instanceof TransportFault && error.cause.sent === 'maybe')
}

function reasonOf(error: unknown): string {
  return error instanceof BrokerFault ? error.kind : error instanceof Error ? error.name : 'unknown'
}
