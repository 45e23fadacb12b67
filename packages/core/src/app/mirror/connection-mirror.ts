import type { Account, Connection } from '../../domain/account.ts'
import { type AccountEvent, type Broker, BrokerFault } from '../../ports/broker.ts'
import type { GapCause } from '../../ports/gap.ts'
import { backoffMs } from '../backoff.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import type { Semaphore } from '../semaphore.ts'
import { NO_STREAM, NOT_STORED, noAnswer, OPENING, outage, outagePolled } from './health-reasons.ts'
import type { HealthRegistry } from './health-registry.ts'
import { type AccountParts, LoginAccounts } from './login-accounts.ts'
import type { OrderIntake } from './order-intake.ts'

/** The dependencies of a mirror. */
export interface MirrorParts extends AccountParts {
  readonly sessions: BrokerSessions
  readonly intake: OrderIntake
  readonly health: HealthRegistry
  /** Bounds concurrent snapshots, by broker. */
  readonly snapshotSemaphore: Semaphore<string>
}

type MirrorDeps = Pick<Deps, 'store' | 'clock' | 'ids' | 'log' | 'meter' | 'timing'>

const REOPEN = { firstMs: 1_000, longestMs: 30_000 }
/** If a stream ends, or an event cannot be stored, within this time of the previous failure, it counts as another failure in a row. */
const IN_A_ROW_MS = 2 * REOPEN.longestMs
const AT_WORK_MAX = 500

/** A snapshot in progress, and the epoch in which it was started. */
interface Taking {
  readonly epoch: number
  readonly abort: AbortController
  readonly done: Promise<void>
}

/**
 * Mirrors one login. Takes a snapshot of everything first and after every gap, stores only the differences, and follows the account stream
 * in between. Without a stream, snapshots are taken at intervals. Ends with `stop`, or with the connection.
 */
export class ConnectionMirror {
  readonly connection: Connection
  readonly #deps: MirrorDeps
  readonly #parts: MirrorParts
  readonly #stopping = new AbortController()
  /** Events being stored; null if there are none. */
  #atWork: Set<Promise<void>> | null = null
  /** Failures in a row: of opening the stream or storing its events, and of taking snapshots. */
  #failures = { opening: 0, taking: 0 }
  /** When the last failure was (monotonic clock). */
  #failedMs = 0
  readonly #accounts: LoginAccounts
  /** Incremented whenever continuity ends or begins: a snapshot counts only in the epoch in which it was started. */
  #epoch = 0
  #isOpen = false
  #live = false
  #outage: GapCause | null = null
  /** The alarm about foreign accounts is raised once; further events are only counted. */
  #isForeignReported = false
  /** Whether the broker answered the last read made for lack of a stream. */
  #isPolled = false
  #taking: Taking | null = null
  /** Whether the stream left out an order since orders were last read. */
  #isIncomplete = false
  /** When the next full snapshot is due although the stream is live (monotonic clock). */
  #auditAt = 0
  /** The session that is mirrored. */
  #session: Broker | null = null
  #alarm: Disposable | null = null
  #refreshing: Promise<void> | null = null
  #running: Promise<void> | null = null

  constructor(deps: MirrorDeps, parts: MirrorParts, connection: Connection) {
    this.#deps = deps
    this.#parts = parts
    this.connection = connection
    this.#accounts = new LoginAccounts(deps, parts, connection)
  }

  /** Whether the stored records follow the broker without a gap. */
  get live(): boolean {
    return this.#live
  }

  /** Starts once `before` has ended. `ended` is called when the mirror ends, for whatever reason. */
  start(before: Promise<void> | null, ended: () => void): void {
    this.#running ??= this.#run(before).finally(ended)
  }

  async stop(): Promise<void> {
    this.#end()
    await this.#running
  }

  async #run(before: Promise<void> | null): Promise<void> {
    const { signal } = this.#stopping
    await before
    if (!signal.aborted) this.#parts.health.followed(this.connection, 'polling', OPENING)
    while (!signal.aborted) {
      try {
        await this.#follow()
        if (!signal.aborted) throw new BrokerFault('unreachable', 'the account stream ended by itself')
      } catch (cause) {
        await this.#unanswered(cause)
        if (signal.aborted) break
        this.#deps.log.warn('an account stream ended and is opened again', { connectionId: this.connection.connectionId, cause })
        await this.#deps.clock.sleep(this.#reopenMs(), signal).catch(() => undefined)
      }
    }
    await Promise.all(this.#atWork ?? [])
    this.#parts.health.unfollowed(this.connection)
  }

  async #follow(): Promise<void> {
    const session = this.#parts.sessions.get(this.connection)
    await this.#accounts.load()
    const { accountStream } = session.capabilities
    const { signal } = this.#stopping
    if (signal.aborted) return
    this.#session = session
    this.#due(accountStream ? this.#deps.timing.pollMs : 0)
    try {
      if (accountStream) for await (const event of session.events(signal)) await this.#take(session, event)
      else await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    } finally {
      this.#down()
      this.#session = null
      this.#alarm?.[Symbol.dispose]()
      await this.#refreshing
    }
  }

  /** Takes the snapshot that is due: frequent without a live stream, infrequent with one. Never rejects. */
  async #refresh(): Promise<void> {
    const { clock, timing } = this.#deps
    const session = this.#session
    if (session === null || this.#stopping.signal.aborted) return
    if (!this.#live || clock.monotonicMs() >= this.#auditAt) await this.#snapshot(session, 'all')
    else if (this.#isIncomplete || (await this.#accounts.areBusy())) await this.#snapshot(session, 'orders')
    else this.#due(timing.reconcileMs)
  }

  async #take(session: Broker, event: AccountEvent): Promise<void> {
    switch (event.type) {
      case 'live':
        this.#epoch += 1
        this.#isOpen = true
        // An earlier snapshot does not count any more, and may hang.
        this.#taking?.abort.abort(new Error('a newer snapshot is taken'))
        // The stream is open and its events queue up behind this snapshot, so nothing is missed between the two.
        return await this.#snapshot(session, 'all')
      case 'gap':
        return this.#lost(event.cause, event.reason)
      case 'left_out':
        this.#isIncomplete = true
        return
      case 'order': {
        const account = this.#accountOf(event.report.brokerAccountId)
        if (account !== undefined) await this.#beside(this.#parts.intake.take(this.connection, account, event.report, 'stream'))
        return
      }
      case 'positions': {
        const account = this.#accountOf(event.brokerAccountId)
        if (account !== undefined) await this.#beside(this.#accounts.putPositions(session, account, event.positions, this.#stopping.signal))
        return
      }
      case 'balances': {
        const account = this.#accountOf(event.brokerAccountId)
        if (account !== undefined) await this.#beside(this.#accounts.putBalances(session, account, event.balances, this.#stopping.signal))
        return
      }
    }
  }

  /** The login's own account. Events of other accounts are dropped, without logging the account, which is another user's. */
  #accountOf(brokerAccountId: string): Account | undefined {
    const account = this.#accounts.find(brokerAccountId)
    if (account !== undefined) return account
    const { connectionId, broker } = this.connection
    this.#deps.meter.count('stream_foreign_events_total', { broker })
    if (!this.#isForeignReported)
      this.#deps.log.error('ALARM: a broker’s stream sends events of an account that this login does not have', { connectionId, broker })
    this.#isForeignReported = true
    return undefined
  }

  #lost(cause: GapCause, reason: string): void {
    const { connectionId, broker } = this.connection
    this.#deps.meter.count('stream_gaps_total', { broker, cause })
    this.#deps.log.warn('an account stream has a gap', { connectionId, cause, reason })
    this.#outage = cause
    if (this.#isOpen) this.#down()
    // While polling works, another failure of the stream does not make the records stale.
    if (!this.#isPolled && !this.#stopping.signal.aborted) this.#parts.health.followed(this.connection, 'stale', outage(cause))
  }

  #down(): void {
    this.#lapse()
    this.#isOpen = false
    this.#isPolled = false
    this.#due(this.#deps.timing.pollMs)
  }

  /** Ends continuity: a snapshot in progress may lack what was missed. */
  #lapse(): void {
    this.#epoch += 1
    this.#live = false
  }

  /**
   * Lets events of different orders be stored concurrently; each order has a queue, so its events stay in order. At the bound the stream
   * waits, and with it the broker's socket.
   */
  async #beside(work: Promise<void>): Promise<void> {
    this.#atWork ??= new Set()
    const atWork = this.#atWork
    const over = () => {
      atWork.delete(done)
      if (atWork.size === 0 && this.#atWork === atWork) this.#atWork = null
    }
    const done: Promise<void> = work.then(over, (cause: unknown) => {
      this.#notStored(cause)
      over()
    })
    atWork.add(done)
    if (atWork.size >= AT_WORK_MAX) await Promise.race(atWork)
  }

  /** An event that could not be stored will be in the next snapshot, which is taken soon, because the next event may be far off. */
  #notStored(cause: unknown): void {
    const wasLive = this.#live
    this.#lapse()
    if (this.#stopping.signal.aborted || !wasLive) return
    this.#deps.log.warn('what an account stream sent could not be stored', { connectionId: this.connection.connectionId, cause })
    this.#parts.health.followed(this.connection, 'stale', NOT_STORED)
    this.#due(this.#reopenMs())
  }

  /** Takes a snapshot, or shares one started since continuity last ended or began. Never rejects. */
  async #snapshot(session: Broker, what: 'orders' | 'all'): Promise<void> {
    while (this.#taking !== null) {
      const { epoch, done } = this.#taking
      const isShared = epoch === this.#epoch
      await done
      if (isShared) return
    }
    const abort = new AbortController()
    const done = this.#readSnapshot(session, what, abort.signal).finally(() => {
      this.#taking = null
    })
    this.#taking = { epoch: this.#epoch, abort, done }
    await done
  }

  async #readSnapshot(session: Broker, what: 'orders' | 'all', superseded: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#stopping.signal, superseded])
    const { timing } = this.#deps
    const epoch = this.#epoch
    const wasIncomplete = this.#isIncomplete
    this.#isIncomplete = false
    try {
      await this.#parts.snapshotSemaphore.take(this.connection.broker, () => this.#accounts.read(session, what, signal), signal)
      this.#failures.taking = 0
      if (what === 'all') this.#auditAt = this.#deps.clock.monotonicMs() + this.#shortened(timing.auditMs)
      if (epoch === this.#epoch && !signal.aborted) this.#answered(session)
      this.#due(this.#live ? timing.reconcileMs : timing.pollMs)
    } catch (cause) {
      if (superseded.aborted) return
      if (wasIncomplete) this.#isIncomplete = true
      await this.#unanswered(cause)
      this.#due(this.#live ? timing.reconcileMs : this.#retakeMs())
    }
  }

  #answered(session: Broker): void {
    if (this.#isOpen) {
      this.#live = true
      this.#outage = null
      this.#parts.health.followed(this.connection, 'live', null)
      return
    }
    this.#isPolled = true
    const why = !session.capabilities.accountStream ? NO_STREAM : this.#outage === null ? OPENING : outagePolled(this.#outage)
    this.#parts.health.followed(this.connection, 'polling', why)
  }

  /** Only a definitive rejection of the credentials ends the mirror; all other faults are temporary. Never rejects. */
  async #unanswered(cause: unknown): Promise<void> {
    const { signal } = this.#stopping
    const { connection } = this
    if (signal.aborted) return
    // A store that cannot record the broken connection now gets another chance at the next rejection.
    if (await this.#parts.sessions.reportFault(connection, cause).catch(() => false)) return this.#end()
    if (signal.aborted) return
    if (cause instanceof BrokerFault) this.#deps.meter.count('broker_faults_total', { broker: connection.broker, kind: cause.kind })
    this.#deps.log.warn('an account could not be read', { connectionId: connection.connectionId, cause })
    this.#isPolled = false
    // A live stream delivers changes whatever the result of this read.
    if (!this.#live) this.#parts.health.followed(connection, 'stale', noAnswer(cause))
  }

  /** Schedules the next snapshot in `ms` at the latest, spread over time. */
  #due(ms: number): void {
    this.#alarm?.[Symbol.dispose]()
    if (this.#session === null || this.#stopping.signal.aborted) return
    this.#alarm = this.#deps.clock.alarm(this.#shortened(ms), () => {
      const refreshing: Promise<void> = (this.#refreshing ?? Promise.resolve()).then(() => this.#refresh())
      this.#refreshing = refreshing
      void refreshing.then(() => {
        if (this.#refreshing === refreshing) this.#refreshing = null
      })
    })
  }

  #reopenMs(): number {
    const now = this.#deps.clock.monotonicMs()
    // A successful snapshot does not prove a good stream, because one is taken whenever the stream opens.
    if (now - this.#failedMs > IN_A_ROW_MS) this.#failures.opening = 0
    this.#failedMs = now
    this.#failures.opening += 1
    return backoffMs(REOPEN, this.#failures.opening, this.#deps.ids.fraction())
  }

  #retakeMs(): number {
    this.#failures.taking += 1
    const { pollMs } = this.#deps.timing
    return backoffMs({ firstMs: pollMs, longestMs: 3 * pollMs }, this.#failures.taking, this.#deps.ids.fraction())
  }

  #shortened(ms: number): number {
    return ms * (0.8 + 0.2 * this.#deps.ids.fraction())
  }

  #end(): void {
    this.#stopping.abort()
    this.#alarm?.[Symbol.dispose]()
  }
}
