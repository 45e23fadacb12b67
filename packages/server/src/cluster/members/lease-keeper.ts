import type { LeaseDatabase } from './lease-database.ts'
import type { Command, LeaseTiming, MembersView, Notice, Request } from './messages.ts'
import type { SharedLease } from './shared-lease.ts'

/** The database cancels a statement after 0.4 of a lease, so that there is time for another try. */
export const ANSWER_SHARE = 0.4

export const LEASE_TIMING: LeaseTiming = {
  leaseMs: 3_000,
  marginMs: 300,
  renewEveryMs: 500,
  retryMs: 100,
  blockedMsMax: 10_000,
  joinMsMax: 10_000
}

/** Commands that come so soon after a renewal need none before them. */
const FRESH_MS = 200

export interface KeeperClock {
  nowMs(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export interface KeeperDeps {
  readonly database: Pick<LeaseDatabase, 'join' | 'renew' | 'execute' | 'close' | 'onChanged'>
  readonly lease: SharedLease
  readonly clock: KeeperClock
  readonly timing: LeaseTiming
  readonly post: (notice: Notice) => void
}

/**
 * Joins, renews the lease until the node leaves, and executes the main thread's commands in between. It decides nothing else, so that it
 * keeps the lease while the main thread is blocked. Ends with one notice, `left` or `lost`, after which nothing is owned.
 */
export class LeaseKeeper {
  readonly #deps: KeeperDeps
  readonly #over = new AbortController()
  readonly #commands: Command[] = []
  /** The newest command that is over: executed, or a claim that failed, which the main thread decides again. */
  #done = 0
  /** When the last renewal was asked for that succeeded. */
  #renewedMs = Number.NEGATIVE_INFINITY
  /** When to renew next. */
  #dueMs = 0
  #isWoken = false
  #wake: () => void = () => undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(deps: KeeperDeps) {
    this.#deps = deps
    deps.database.onChanged = () => this.#look()
  }

  request(request: Request): void {
    if (request.kind !== 'look') this.#commands.push(request)
    this.#look()
  }

  /** Ends when the node has left, or the lease is lost. Never rejects. */
  async run(): Promise<void> {
    try {
      await this.#join()
      while (!this.#isOver()) {
        await this.#round()
        await this.#pause()
      }
    } catch (cause) {
      this.#lose(`of an error: ${messageOf(cause)}`)
    } finally {
      this.#deps.database.close()
      await this.#ended
    }
  }

  /** Ends at once, without leaving: the lease ends by itself. */
  abort(): void {
    this.#lose('it was aborted')
  }

  async #join(): Promise<void> {
    const { clock, timing } = this.#deps
    const deadline = clock.nowMs() + timing.joinMsMax
    while (!this.#isOver()) {
      try {
        return await this.#deps.database.join()
      } catch (cause) {
        if (clock.nowMs() >= deadline) return this.#lose(`it could not join: ${messageOf(cause)}`)
        this.#warn('the node cannot join the cluster yet', cause)
      }
      await clock.sleep(timing.retryMs, this.#over.signal).catch(() => undefined)
    }
  }

  /** One renewal, and the commands that wait. Leases come first: a command that fails is tried again in the next round. */
  async #round(): Promise<void> {
    // Also where nothing is renewed: a command that fails would be tried again without a pause.
    this.#isWoken = false
    // Users wait for what is claimed and released, so a lease that was just renewed does not delay it.
    const isFresh = this.#commands.length > 0 && this.#deps.clock.nowMs() - this.#renewedMs < FRESH_MS
    // Once it may have left, it has no lease to renew.
    if (!isFresh && this.#commands[0]?.kind !== 'leave' && !(await this.#renewed())) return
    for (let [command] = this.#commands; command !== undefined && !this.#isOver(); [command] = this.#commands) {
      if (!(await this.#executed(command))) return
      this.#commands.shift()
      this.#done = command.id
      if (command.kind === 'leave') return this.#finish({ kind: 'left' })
      if (!(await this.#renewed())) return
    }
  }

  async #executed(command: Command): Promise<boolean> {
    try {
      await this.#deps.database.execute(command)
      return true
    } catch (cause) {
      this.#warn('the database did not execute a command about partitions', cause)
      this.#dueMs = this.#deps.clock.nowMs() + this.#deps.timing.retryMs
      // What can be claimed is decided again.
      return command.kind === 'claim'
    }
  }

  /** Renews the lease and posts what was read with it. */
  async #renewed(): Promise<boolean> {
    const { database, lease, clock, timing, post } = this.#deps
    // A node that was paused must not renew: it has ended for itself.
    if (this.#isOver() || this.#hasEnded()) return false
    const sentMs = clock.nowMs()
    this.#isWoken = false
    if (sentMs - lease.mainSeenAtMs > timing.blockedMsMax) return this.#skipped()
    let renewed: Awaited<ReturnType<LeaseDatabase['renew']>>
    try {
      renewed = await database.renew()
    } catch (cause) {
      this.#warn('the lease could not be renewed; it is tried again', cause)
      this.#dueMs = clock.nowMs() + timing.retryMs
      return false
    }
    if (this.#isOver()) return false
    if (renewed === null) {
      this.#lose('its lease had ended by the clock of the database')
      return false
    }
    const isFirst = lease.endsAtMs === 0
    lease.extendTo(sentMs + timing.leaseMs - timing.marginMs)
    this.#renewedMs = sentMs
    if (isFirst) this.#ended = this.#watchEnd()
    if (this.#hasEnded()) return false
    this.#dueMs = sentMs + Math.min(timing.renewEveryMs, nextEndMs(renewed.view))
    post({ kind: 'view', ...renewed, sentMs, cameMs: clock.nowMs(), done: this.#done })
    return true
  }

  #skipped(): false {
    this.#warn('the lease is not renewed', new Error(`the main thread has been blocked for ${this.#deps.timing.blockedMsMax} ms`))
    this.#dueMs = this.#deps.clock.nowMs() + this.#deps.timing.renewEveryMs
    return false
  }

  /** Reports the end of the lease on time, also while an answer is awaited. */
  async #watchEnd(): Promise<void> {
    const { lease, clock } = this.#deps
    while (!this.#hasEnded()) await clock.sleep(lease.endsAtMs - clock.nowMs(), this.#over.signal).catch(() => undefined)
  }

  /** Whether it is over; a lease that has ended by the monotonic clock is lost. */
  #hasEnded(): boolean {
    const { lease, clock } = this.#deps
    if (!this.#isOver() && lease.endsAtMs > 0 && clock.nowMs() >= lease.endsAtMs) this.#lose('its lease could not be renewed in time')
    return this.#isOver()
  }

  /** Until the next renewal is due, or something is to be done before. */
  async #pause(): Promise<void> {
    const { clock } = this.#deps
    const wake = new AbortController()
    this.#wake = () => wake.abort()
    if (this.#isWoken || this.#isOver()) return
    const signal = AbortSignal.any([wake.signal, this.#over.signal])
    await clock.sleep(Math.max(0, this.#dueMs - clock.nowMs()), signal).catch(() => undefined)
    this.#wake = () => undefined
  }

  #look(): void {
    this.#isWoken = true
    this.#wake()
  }

  #warn(message: string, cause: unknown): void {
    if (!this.#isOver()) this.#deps.post({ kind: 'warning', message, cause: messageOf(cause) })
  }

  #lose(why: string): void {
    this.#finish({ kind: 'lost', why })
  }

  #finish(notice: Notice): void {
    if (this.#isOver()) return
    this.#over.abort()
    this.#deps.lease.end()
    this.#deps.database.close()
    this.#deps.post(notice)
  }

  #isOver(): boolean {
    return this.#over.signal.aborted
  }
}

/** A look at the database is worth it when the lease of another member ends, plus this. */
const AFTER_END_MS = 5

function nextEndMs({ members }: MembersView): number {
  return Math.min(...members.flatMap(({ leaseMs }) => (leaseMs > 0 ? [leaseMs + AFTER_END_MS] : [])))
}

function messageOf(cause: unknown): string {
  // An address with several IP addresses fails once for each; the message is in the first failure.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error ? first.message : String(first)
}
