import type { Account, Connection } from '../../domain/account.ts'
import { type AccountEvent, type Broker, BrokerFault, type GapCause } from '../../ports/broker.ts'
import { backoffMs } from '../backoff.ts'
import type { BrokerSessions } from '../connections/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import { NO_STREAM, NOT_STORED, noAnswer, OPENING, outage, outagePolled } from './health-reasons.ts'
import type { HealthRegistry } from './health-registry.ts'
import { type AccountParts, LoginAccounts } from './login-accounts.ts'
import type { OrderIntake } from './order-intake.ts'
import type { Semaphore } from './semaphore.ts'

/** What a mirror needs of its surroundings. */
export interface MirrorParts extends AccountParts {
  readonly sessions: BrokerSessions
  readonly intake: OrderIntake
  readonly health: HealthRegistry
  /** Bounds concurrent snapshots, by broker. */
  readonly snapshotSemaphore: Semaphore<string>
}

type MirrorDeps = Pick<Deps, 'store' | 'clock' | 'ids' | 'log' | 'meter' | 'timing'>

const REOPEN = { firstMs: 1_000, longestMs: 30_000 }
/** A stream that ends again within this time of being opened, or something that cannot be stored again, is one more failure in a row. */
const IN_A_ROW_MS = 2 * REOPEN.longestMs
const AT_WORK_MAX = 500

/** A snapshot under way, and when in the stream's life it was begun. */
interface Taking {
  readonly epoch: number
  readonly abort: AbortController
  readonly done: Promise<void>
}

/**
 * Follows one login: by its account stream, with a snapshot of everything first and after every gap, of which only the differences count; by
 * snapshots alone while there is no stream. It ends when `stop` is called, or with the connection.
 */
export class ConnectionMirror {
  readonly connection: Connection
  readonly #deps: MirrorDeps
  readonly #parts: MirrorParts
  readonly #stopping = new AbortController()
  /** Events being stored; there for as long as there are any. */
  #atWork: Set<Promise<void>> | null = null
  /** Attempts in a row that came to nothing: to open the stream or to store what it sends, to take a snapshot. */
  #failures = { opening: 0, taking: 0 }
  /** When the last of them was, on the monotonic clock. */
  #failedMs = 0
  readonly #accounts: LoginAccounts
  /** Counts whatever ends or begins continuity: a snapshot counts only in the epoch in which it was begun. */
  #epoch = 0
  #isOpen = false
  #live = false
  #outage: GapCause | null = null
  /** The alarm about foreign accounts is raised once; further events are counted. */
  #isForeignReported = false
  /** Whether the broker answered when it was asked last, there being no stream. */
  #isPolled = false
  #taking: Taking | null = null
  /** Something of an order was left out of the stream since orders were read last. */
  #isIncomplete = false
  /** When a full snapshot is due although the stream is well; on the monotonic clock. */
  #auditAt = 0
  /** The session that is followed now. */
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

  /** Whether what is stored follows the broker without a gap right now. */
  get live(): boolean {
    return this.#live
  }

  /** Begins once `before` has ended; `ended` is called when the mirror has, for whatever reason. */
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

  /** Takes the snapshot that is due: often while there is no live stream, seldom while there is one. Never rejects. */
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
        // What was begun before does not count, and may hang.
        this.#taking?.abort.abort(new Error('a newer snapshot is taken'))
        // The stream is open and its events queue up behind this snapshot, so nothing can be missed between the two.
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

  /** The login's own account; events of any other are dropped. Which it was is not logged: it is another user's. */
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
    // While it is down, another cause of that takes nothing from what asking gave.
    if (!this.#isPolled && !this.#stopping.signal.aborted) this.#parts.health.followed(this.connection, 'stale', outage(cause))
  }

  #down(): void {
    this.#lapse()
    this.#isOpen = false
    this.#isPolled = false
    this.#due(this.#deps.timing.pollMs)
  }

  /** Continuity is over; a snapshot under way may lack what was missed. */
  #lapse(): void {
    this.#epoch += 1
    this.#live = false
  }

  /**
   * Lets the work of different orders run side by side; each order has its own queue, so its events keep their order. Beyond the bound the
   * stream waits, and with it the broker's socket.
   */
  async #beside(work: Promise<void>): Promise<void> {
    this.#atWork ??= new Set()
    const atWork = this.#atWork
    const done: Promise<void> = work
      .catch(cause => this.#notStored(cause))
      .finally(() => {
        atWork.delete(done)
        if (atWork.size === 0 && this.#atWork === atWork) this.#atWork = null
      })
    atWork.add(done)
    if (atWork.size >= AT_WORK_MAX) await Promise.race(atWork)
  }

  /** What could not be stored is lost from memory only: the next snapshot brings it again, and soon, because the next event may be long in coming. */
  #notStored(cause: unknown): void {
    const wasLive = this.#live
    this.#lapse()
    if (this.#stopping.signal.aborted || !wasLive) return
    this.#deps.log.warn('what an account stream sent could not be stored', { connectionId: this.connection.connectionId, cause })
    this.#parts.health.followed(this.connection, 'stale', NOT_STORED)
    this.#due(this.#reopenMs())
  }

  /** Takes a snapshot, or shares one begun since continuity last ended or began. Never rejects. */
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

  /** Nothing but a definitive rejection ends the mirror; whatever else it was passes. Never rejects. */
  async #unanswered(cause: unknown): Promise<void> {
    const { signal } = this.#stopping
    const { connection } = this
    if (signal.aborted) return
    // A store that cannot note the break now is asked again when the broker refuses the next time.
    if (await this.#parts.sessions.reportFault(connection, cause).catch(() => false)) return this.#end()
    if (signal.aborted) return
    if (cause instanceof BrokerFault) this.#deps.meter.count('broker_faults_total', { broker: connection.broker, kind: cause.kind })
    this.#deps.log.warn('an account could not be read', { connectionId: connection.connectionId, cause })
    this.#isPolled = false
    // A healthy stream delivers what happens, whatever the result of the check.
    if (!this.#live) this.#parts.health.followed(connection, 'stale', noAnswer(cause))
  }

  /** The next snapshot is due in `ms` at the latest, and not all of them at once. */
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
    // A good snapshot is no proof of a good stream: it is taken each time that one is opened.
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
