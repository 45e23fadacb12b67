import type { Connection } from '../../domain/account.ts'
import type { ConnectionId, UserKey } from '../../domain/ids.ts'
import { BrokerFault } from '../../ports/broker.ts'
import type { GapCause } from '../../ports/gap.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { Deps } from '../deps.ts'
import { isOwned } from '../owned-users.ts'
import { limited } from '../time-limits.ts'
import { ConnectionMarket } from './connection-market.ts'
import { MarketRefusal } from './refusal.ts'
import { WorkQueue } from './work-queue.ts'

type MarketsDeps = Pick<Deps, 'bus' | 'clock' | 'log' | 'meter' | 'timing' | 'ownership'>

interface Entry {
  readonly market: ConnectionMarket
  readonly connection: Connection
  readonly login: Disposable
  users: number
  isProbing: boolean
  isTickFailing: boolean
}

const TICK_MS = 1_000
const TICK_LATE_MS = 2_000

/** The market data of this node: one `ConnectionMarket` per connection with subscribers. */
export class Markets {
  readonly #deps: MarketsDeps
  readonly #sessions: BrokerSessions
  readonly #entries = new Map<ConnectionId, Entry>()
  /** Shared by all connections, so that long work of one user does not delay the others. */
  readonly #workQueue: WorkQueue<UserKey>
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  #ticking: Promise<void> | null = null

  constructor(deps: MarketsDeps, sessions: BrokerSessions) {
    this.#deps = deps
    this.#sessions = sessions
    this.#workQueue = new WorkQueue(deps.clock)
    this.#unsubscribe = deps.bus.subscribe(
      message => {
        if (message.type === 'connection_removed' || message.type === 'connection_renewed') this.#end(message.connectionId)
        if (message.type === 'connection_health' && message.health.state === 'broken') this.#end(message.connectionId)
      },
      ['connection_removed', 'connection_renewed', 'connection_health']
    )
  }

  /** The number of connections with subscribers. */
  get count(): number {
    return this.#entries.size
  }

  /** The number of topics streamed by brokers. */
  get topics(): number {
    let count = 0
    for (const { market } of this.#entries.values()) count += market.topics
    return count
  }

  /** The connection's market; to be released with {@link leave}. @throws MarketRefusal */
  join(connection: Connection): ConnectionMarket {
    const { connectionId } = connection
    const known = this.#entries.get(connectionId)
    if (known !== undefined) {
      known.users += 1
      return known.market
    }
    const broker = this.#session(connection)
    if (broker.market === null) throw new MarketRefusal('unsupported_channel', `${connection.broker} has no market data.`)
    const { clock, log, meter, timing } = this.#deps
    const entry: Entry = {
      market: new ConnectionMarket(
        { clock, log, meter, timing, nextSlice: signal => this.#workQueue.take(connection.userKey, signal) },
        {
          source: broker.market,
          broker: broker.capabilities,
          failed: cause => this.#sessions.reportFault(connection, cause),
          lost: cause => this.#lost(entry, cause)
        }
      ),
      connection,
      login: this.#sessions.retain(connectionId),
      users: 1,
      isProbing: false,
      isTickFailing: false
    }
    this.#entries.set(connectionId, entry)
    this.#ticking ??= this.#tick()
    return entry.market
  }

  leave(connection: Connection, market: ConnectionMarket): void {
    const entry = this.#entries.get(connection.connectionId)
    if (entry?.market !== market) return
    entry.users -= 1
    if (entry.users === 0) this.#end(connection.connectionId)
  }

  /** Ends the markets of users that this node does not own any more. */
  endUnowned(): void {
    for (const { connection } of [...this.#entries.values()])
      if (!isOwned(this.#deps.ownership, connection.userKey)) this.#end(connection.connectionId)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unsubscribe()
    for (const connectionId of [...this.#entries.keys()]) this.#end(connectionId)
    await this.#ticking
  }

  #session(connection: Connection) {
    try {
      return this.#sessions.get(connection)
    } catch (cause) {
      if (!(cause instanceof BrokerFault)) throw cause
      throw new MarketRefusal('broker_unavailable', cause.message, cause)
    }
  }

  #end(connectionId: ConnectionId): void {
    const entry = this.#entries.get(connectionId)
    this.#entries.delete(connectionId)
    if (entry === undefined) return
    entry.login[Symbol.dispose]()
    entry.market.end()
  }

  /** If a stream ended because of its token, the broker may have rejected the login; only a read can show that. */
  #lost(entry: Entry, cause: GapCause): void {
    this.#deps.meter.count('market_gaps_total', { broker: entry.connection.broker, cause })
    if (cause === 'token' && !entry.isProbing) void this.#probe(entry)
  }

  async #probe(entry: Entry): Promise<void> {
    entry.isProbing = true
    try {
      const { clock, timing } = this.#deps
      const broker = this.#sessions.get(entry.connection)
      await limited(clock, timing.readMs, signal => broker.accounts(signal), this.#stopping.signal)
      entry.market.renew()
    } catch (cause) {
      await this.#sessions.reportFault(entry.connection, cause).catch(error => {
        this.#deps.log.warn('a broken connection could not be recorded', {
          connectionId: entry.connection.connectionId,
          cause: error
        })
      })
    } finally {
      entry.isProbing = false
    }
  }

  async #tick(): Promise<void> {
    const { clock } = this.#deps
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const begun = clock.monotonicMs()
      await clock.sleep(TICK_MS, signal).catch(() => undefined)
      // After a stall, messages that arrived meanwhile are handled before a bar is closed for lack of new ones.
      if (clock.monotonicMs() - begun > TICK_LATE_MS) continue
      if (!signal.aborted) for (const entry of this.#entries.values()) this.#tickOne(entry)
    }
  }

  /** Isolates failures: data of one broker, such as a time outside every calendar, must not stop the others. */
  #tickOne(entry: Entry): void {
    try {
      entry.market.tick()
      entry.isTickFailing = false
    } catch (cause) {
      if (!entry.isTickFailing)
        this.#deps.log.warn('the periodic check of a market failed', { connectionId: entry.connection.connectionId, cause })
      entry.isTickFailing = true
    }
  }
}
