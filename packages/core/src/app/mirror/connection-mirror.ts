import type { Account, Connection } from '../../domain/account.ts'
import type { AccountEvent, Broker } from '../../ports/broker.ts'
import type { BrokerSessions } from '../connections/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import { limited } from '../limited.ts'
import type { AccountRecords } from './account-records.ts'
import type { OrderIntake } from './order-intake.ts'
import type { OrderSnapshots } from './order-snapshots.ts'

/** What a mirror needs of its surroundings. */
export interface MirrorParts {
  readonly sessions: BrokerSessions
  readonly intake: OrderIntake
  readonly records: AccountRecords
  readonly snapshots: OrderSnapshots
}

type MirrorDeps = Pick<Deps, 'store' | 'clock' | 'log' | 'meter' | 'timing'>

const RETRY_MS = 1_000
const AT_WORK_MAX = 500
/** How often the orders are read although the stream is well. */
const RECONCILE_MS = 60_000

/**
 * Follows one login's account stream: a snapshot first, then changes; after every gap a new snapshot, of which only the differences count.
 * It ends when `stop` is called, or with the connection.
 */
export class ConnectionMirror {
  readonly connection: Connection
  readonly #deps: MirrorDeps
  readonly #parts: MirrorParts
  readonly #stopping = new AbortController()
  #accounts: ReadonlyMap<string, Account> = new Map()
  readonly #atWork = new Set<Promise<void>>()
  #failed: unknown = null
  /** Ends the stream that is followed now. */
  #over = new AbortController()
  #live = false
  #snapshotAt = 0
  #running: Promise<void> | null = null

  constructor(deps: MirrorDeps, parts: MirrorParts, connection: Connection) {
    this.#deps = deps
    this.#parts = parts
    this.connection = connection
  }

  /** Whether what is stored follows the broker without a gap right now. */
  get live(): boolean {
    return this.#live
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const session = this.#parts.sessions.get(this.connection)
        await this.#loadAccounts()
        if (session.capabilities.accountStream) await this.#follow(session)
        else await this.#poll(session)
      } catch (cause) {
        if (signal.aborted) return
        this.#live = false
        // A store that cannot note the break now is asked again when the broker refuses the next time.
        if (await this.#parts.sessions.learn(this.connection, cause).catch(() => false)) return
        this.#deps.log.warn('an account stream ended and is opened again', { connectionId: this.connection.connectionId, cause })
        await this.#deps.clock.sleep(RETRY_MS, signal).catch(() => undefined)
      } finally {
        this.#live = false
        await Promise.all(this.#atWork)
        this.#failed = null
      }
    }
  }

  async #follow(session: Broker): Promise<void> {
    this.#over = new AbortController()
    const signal = AbortSignal.any([this.#stopping.signal, this.#over.signal])
    const polling = this.#reconcile(session, signal)
    try {
      for await (const event of session.events(signal)) await this.#take(session, event)
      if (this.#failed !== null) throw this.#failed
    } finally {
      this.#over.abort()
      await polling
    }
  }

  /** Orders move while their stream is down as well, and a stream that is up may have left something out. */
  async #reconcile(session: Broker, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#deps.clock.sleep(this.#deps.timing.readMs, signal).catch(() => undefined)
      const isRecent = this.#deps.clock.monotonicMs() - this.#snapshotAt < RECONCILE_MS
      if (signal.aborted || (this.#live && isRecent)) continue
      await this.#snapshot(session).catch(async cause => {
        if (signal.aborted) return
        this.#deps.log.warn('an account could not be read for reconciliation', { connectionId: this.connection.connectionId, cause })
        await this.#parts.sessions.learn(this.connection, cause).catch(() => false)
      })
    }
  }

  async #poll(session: Broker): Promise<void> {
    for (;;) {
      await this.#snapshot(session)
      await this.#deps.clock.sleep(this.#deps.timing.readMs, this.#stopping.signal)
    }
  }

  async #take(session: Broker, event: AccountEvent): Promise<void> {
    switch (event.type) {
      case 'live':
        // The stream is open and its events queue up behind this snapshot, so nothing can fall between the two.
        await this.#snapshot(session)
        this.#live = true
        return
      case 'gap':
        this.#live = false
        this.#deps.meter.count('stream_gaps_total', { broker: this.connection.broker })
        this.#deps.log.warn('an account stream has a gap', { connectionId: this.connection.connectionId, reason: event.reason })
        return
      case 'order': {
        const account = this.#accounts.get(event.report.brokerAccountId)
        if (account !== undefined) await this.#beside(this.#parts.intake.take(this.connection, account, event.report, 'stream'))
        return
      }
      case 'positions': {
        const account = this.#accounts.get(event.brokerAccountId)
        if (account !== undefined) await this.#beside(this.#parts.records.putPositions(account, event.positions))
        return
      }
      case 'balances': {
        const account = this.#accounts.get(event.brokerAccountId)
        if (account !== undefined) await this.#beside(this.#parts.records.putBalances(account, event.balances))
        return
      }
    }
  }

  /**
   * Lets the work of different orders run side by side; each order has its own lane, so its events keep their order. Beyond the bound the
   * stream waits, and with it the broker's socket.
   */
  async #beside(work: Promise<void>): Promise<void> {
    const done: Promise<void> = work
      .catch(cause => {
        // What could not be stored is lost from memory only: the next snapshot tells it again, so continuity is over, and at once: the next
        // event may be long in coming.
        this.#failed ??= cause
        this.#live = false
        this.#over.abort()
      })
      .finally(() => this.#atWork.delete(done))
    this.#atWork.add(done)
    if (this.#atWork.size >= AT_WORK_MAX) await Promise.race(this.#atWork)
    if (this.#failed !== null) throw this.#failed
  }

  async #snapshot(session: Broker): Promise<void> {
    for (const account of this.#accounts.values()) await this.#snapshotOf(session, account)
    this.#snapshotAt = this.#deps.clock.monotonicMs()
  }

  async #snapshotOf(session: Broker, account: Account): Promise<void> {
    const { clock, timing } = this.#deps
    await this.#parts.snapshots.take(session, this.connection, account, this.#stopping.signal)
    const refresh = (signal: AbortSignal) => this.#parts.records.refresh(session, account, signal)
    await limited(clock, timing.commandMs, refresh, this.#stopping.signal)
  }

  async #loadAccounts(): Promise<void> {
    const accounts = await this.#deps.store.accounts.listByConnections([this.connection.connectionId])
    this.#accounts = new Map(accounts.map(account => [account.brokerAccountId, account]))
  }
}
