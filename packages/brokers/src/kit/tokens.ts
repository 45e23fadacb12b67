/** The access token of one login: cached, renewed in the background before it expires, and shared by all callers. */

import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials, type CredentialsHolder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { TransportFault } from './http.ts'
import { StreamFault } from './stream-fault.ts'

/** The token in an adapter's credentials. `expiresAt` null: the broker sets no expiry. */
export interface AccessToken {
  readonly token: string
  readonly issuedAt: Timestamp | null
  readonly expiresAt: Timestamp | null
  /** False: the broker has no refresh, so only a new login of the user yields another token. */
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
   * Reads something that every login may read; true when the broker accepts the token. For brokers whose 401 can also be a transient
   * failure or concern the request: no 401 counts unless this confirms it. @throws BrokerFault when the broker cannot answer.
   */
  readonly confirm?: (token: string, signal: AbortSignal) => Promise<boolean>
}

/** Fraction of its lifetime after which a token is renewed in the background. */
const RENEW_AT = 0.8
/** A token is not used for this long before it expires, because it must still be valid when the request reaches the broker. */
const MARGIN_MS = 2_000
const RENEW_LIMIT_MS = 20_000
const QUIET_AFTER_FAILURE_MS = 5_000
/** Pause after a refusal that does not count as definitive yet. */
const QUIET_AFTER_REFUSAL_MS = 60_000
/** Consecutive lost answers after which a renewal is no longer retried in the background. */
const LOSSES_MAX = 6
/** Pause before a refresh whose answer was lost is repeated: shorter than any broker's grace period. */
const REFRESH_AGAIN_MS = 500
/** Time between the two refusals that reject an access token without a refresh. */
const CONFIRM_AGAIN_MS = 2_000
/** A 401 may also concern an outdated token of another process, hence more than one round. */
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
  /** Aborts the work in progress when the login is closed. Created on demand: there are many logins, and work is rare. */
  #closing: AbortController | null = null
  #isClosed = false
  #held: Held | null = null
  #work: Promise<Held> | null = null
  #rejected: BrokerFault | null = null
  /** The latest token that the broker confirmed after having refused it. */
  #confirmed: { readonly token: string; readonly atMs: number } | null = null
  #quietUntilMs = 0
  #losses = 0
  #again: Disposable | null = null

  constructor(options: TokenOptions) {
    this.#options = options
  }

  /** The cached token; null when {@link current} must be awaited. For the hot path: no promise, no store access. */
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

  /** Milliseconds until {@link fresh} would begin to renew; never negative, infinite without an expiry. */
  renewsInMs(): number {
    return this.#held === null ? 0 : Math.max(0, this.#held.renewAtMs - this.#options.clock.monotonicMs())
  }

  /** The broker answered 401 to `token`. Returns the next token to try: the same one if the broker confirms it. @throws BrokerFault */
  async replacement(token: string, signal: AbortSignal): Promise<string> {
    return (await this.#replacement(token, false, signal)).token
  }

  /**
   * Runs `call` with a token, and again with a newer one after each 401. A 401 to a token that this process obtained after the call began
   * is definitive, after `confirm` if there is one. If the broker confirms the token and still answers the call with 401, that answer is
   * the result, because it concerns the request. @throws BrokerFault
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
        this.#options.log.warn('access token could not be renewed before it expires', { reason: reasonOf(error) })
        if (isLost(error) && !this.#isClosed) this.#tryAgain()
      }
    )
  }

  /**
   * Retries soon, and not only on the next request: after a lost answer the broker accepts the spent refresh token only for its grace
   * period.
   */
  #tryAgain(): void {
    this.#losses += 1
    if (this.#losses > LOSSES_MAX) return
    this.#again?.[Symbol.dispose]()
    this.#again = this.#options.clock.alarm(QUIET_AFTER_FAILURE_MS, () => void this.fresh())
  }

  #holdOff(ms: number): void {
    this.#quietUntilMs = Math.max(this.#quietUntilMs, this.#options.clock.monotonicMs() + ms)
  }

  /** Joins the work in progress. The work continues when one of its waiters aborts. */
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
    const late = () => closing.abort(new BrokerFault('unreachable', `no access token was obtained within ${RENEW_LIMIT_MS} ms`))
    const alarm = this.#options.clock.alarm(RENEW_LIMIT_MS, late)
    this.#closing = closing
    const running = work().finally(() => {
      this.#work = null
      this.#closing = null
      alarm[Symbol.dispose]()
    })
    this.#work = running
    // All waiters may have aborted by the time it fails.
    running.catch(() => undefined)
    return running
  }

  async #load(): Promise<Held> {
    const held = this.#hold(await this.#options.holder.read(this.#limit()), -1)
    return this.#options.clock.monotonicMs() < held.uselessAtMs ? held : await this.#renewed(held, false)
  }

  /** `isNew`: this process has just obtained the token, so another renewal would change nothing. */
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

  /** Whether the broker confirms a token that it refused; false without a way to confirm. */
  async #isTaken(held: Held): Promise<boolean> {
    const { confirm, clock } = this.#options
    if (confirm === undefined || !(await confirm(held.token, this.#limit()))) return false
    this.#confirmed = { token: held.token, atMs: clock.monotonicMs() }
    return true
  }

  /** The broker refused a token that cannot be replaced. The login is rejected unless the broker accepts the token a moment later. */
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
   * The grant was refused. That is definitive, with two exceptions until the access token expires: there was no refresh token to refuse, or
   * an earlier refresh with an unread answer may have spent it.
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
    throw new BrokerFault('unreachable', 'the access token cannot be renewed; it is used until it expires', { cause: fault })
  }

  /**
   * A broker that rotates refresh tokens spends the one we sent when it answers, even if the answer is lost. Within a grace period it
   * repeats the answer. A refresh whose answer was lost is therefore repeated once, without delay.
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
    // The clock may have been set back since the token was issued: the remaining time never exceeds the whole lifetime.
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

/**
 * The access token for a new stream connection. `refused` is the token that the last connection was refused with: it is checked first.
 * @throws BrokerFault credentials_rejected; StreamFault for transient failures.
 */
export async function usableToken(tokens: TokenSource, signal: AbortSignal, refused: string | null = null): Promise<string> {
  try {
    return refused === null ? (tokens.fresh() ?? (await tokens.current(signal))) : await tokens.replacement(refused, signal)
  } catch (cause) {
    if (cause instanceof BrokerFault && cause.kind === 'credentials_rejected') throw cause
    throw new StreamFault('token', 'no access token was obtained', cause)
  }
}
