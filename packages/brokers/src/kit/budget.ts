/** A broker's rate limit, kept on our side: a token bucket that lets orders go first and nobody wait for long. */

import type { Clock } from '@trunkline/core/ports/clock'

export interface BudgetRates {
  readonly perSecond: number
  /** Calls that may go at once after a quiet time. */
  readonly burst: number
  /** Calls of the burst that reads must leave to orders. */
  readonly keptForOrders: number
  /** Calls that may wait; one more is refused. */
  readonly waitingMax: number
  /** A call that would have to wait longer is refused at once. */
  readonly waitMsMax: number
}

export type BudgetKind = 'order' | 'read'

/** The budget has no room within the bounded wait. Nothing was sent. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
  /** When trying again makes sense. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super(`the broker's rate limit leaves no room for ${Math.ceil(retryAfterMs)} ms`)
    this.retryAfterMs = retryAfterMs
  }
}

interface Waiter {
  readonly kind: BudgetKind
  go(): void
  refuse(reason: unknown): void
}

/** One limit of one broker: of a login, or of all of them together. */
export class RateBudget implements Disposable {
  readonly #rates: BudgetRates
  readonly #clock: Clock
  /** Made when somebody has to wait: there is a budget for every login, and hardly ever anybody in its line. */
  #line: { readonly [kind in BudgetKind]: Set<Waiter> } | null = null
  #tokens: number
  #countedAt: number
  #pausedUntil = 0
  #alarm: Disposable | null = null
  #closed: Error | null = null

  constructor(rates: BudgetRates, clock: Clock) {
    this.#rates = rates
    this.#clock = clock
    this.#tokens = rates.burst
    this.#countedAt = clock.monotonicMs()
  }

  /** Takes one call if it may go now. */
  tryTake(kind: BudgetKind): boolean {
    if (this.#inLine('order') > 0 || (kind === 'read' && this.#inLine('read') > 0)) return false
    return this.#grab(kind)
  }

  /** Waits for one call. @throws BudgetSpent when that would take too long; the signal's reason when it aborts. */
  async take(kind: BudgetKind, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#closed !== null) throw this.#closed
    if (this.tryTake(kind)) return
    const waitMs = this.#waitMs(kind)
    if (waitMs > this.#rates.waitMsMax || this.#inLine('order') + this.#inLine('read') >= this.#rates.waitingMax)
      throw new BudgetSpent(waitMs)
    await this.#queued(kind, signal)
  }

  /** The broker said to be quiet: nobody goes for `ms`. A later end wins over an earlier one. */
  pause(ms: number): void {
    this.#count()
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonicMs() + ms)
    this.#tokens = Math.min(this.#tokens, 1)
    for (const kind of ['order', 'read'] as const)
      if (this.#waitMs(kind) > this.#rates.waitMsMax)
        for (const waiter of this.#line?.[kind] ?? []) waiter.refuse(new BudgetSpent(this.#waitMs(kind)))
  }

  [Symbol.dispose](): void {
    this.#closed ??= new Error('the login was closed')
    this.#alarm?.[Symbol.dispose]()
    for (const waiter of [...(this.#line?.order ?? []), ...(this.#line?.read ?? [])]) waiter.refuse(this.#closed)
  }

  async #queued(kind: BudgetKind, signal: AbortSignal): Promise<void> {
    const done = Promise.withResolvers<void>()
    const waiter: Waiter = { kind, go: done.resolve, refuse: done.reject }
    const giveUp = () => done.reject(signal.reason)
    this.#line ??= { order: new Set(), read: new Set() }
    const line = this.#line[kind]
    line.add(waiter)
    signal.addEventListener('abort', giveUp, { once: true })
    if (this.#alarm === null) this.#pump()
    try {
      await done.promise
    } finally {
      line.delete(waiter)
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Lets those go who may, orders first; for the next one there is an alarm. */
  #pump(): void {
    this.#alarm = null
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (!this.#grab(next.kind)) {
        this.#alarm = this.#clock.alarm(Math.max(1, this.#shortMs(next.kind)), () => this.#pump())
        return
      }
      this.#line?.[next.kind].delete(next)
      next.go()
    }
    this.#line = null
  }

  #next(): Waiter | undefined {
    const [order] = this.#line?.order ?? []
    const [read] = this.#line?.read ?? []
    return order ?? read
  }

  #inLine(kind: BudgetKind): number {
    return this.#line?.[kind].size ?? 0
  }

  #grab(kind: BudgetKind): boolean {
    this.#count()
    if (this.#clock.monotonicMs() < this.#pausedUntil || this.#tokens < this.#needed(kind)) return false
    this.#tokens -= 1
    return true
  }

  #needed(kind: BudgetKind): number {
    return kind === 'order' ? 1 : 1 + this.#rates.keptForOrders
  }

  #count(): void {
    const now = this.#clock.monotonicMs()
    const from = Math.max(this.#countedAt, Math.min(this.#pausedUntil, now))
    this.#tokens = Math.min(this.#rates.burst, this.#tokens + ((now - from) * this.#rates.perSecond) / 1_000)
    this.#countedAt = now
  }

  /** Until the bucket holds what one call of this kind needs, were nobody before it. */
  #shortMs(kind: BudgetKind): number {
    const now = this.#clock.monotonicMs()
    const missing = Math.max(0, this.#needed(kind) - this.#tokens)
    return Math.max(this.#pausedUntil - now, 0) + (missing / this.#rates.perSecond) * 1_000
  }

  #waitMs(kind: BudgetKind): number {
    const before = this.#inLine('order') + (kind === 'read' ? this.#inLine('read') : 0)
    return this.#shortMs(kind) + (before / this.#rates.perSecond) * 1_000
  }
}
