/** The market streams: their connections and subscriptions. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { StreamConnection } from '../stream/connection.ts'
import { ConnectionRegistry, type ConnectionRegistryDeps } from '../stream/connection-registry.ts'
import type { StreamFaultSpec } from '../stream/stream-faults.ts'
import { BatchedSender, type Reader, WAITING_MAX } from './batched-sender.ts'
import { MarketSession, type Wanted } from './session.ts'

export const MARKET_STREAM_PATH = '/market/v1'

const MESSAGE_BYTES_MAX = 256 * 1024

export interface MarketHubDeps extends ConnectionRegistryDeps {
  readonly sandboxTime: () => string
  /** Starts a reader's subscription, with the current state first. @returns false if it does not exist */
  readonly add: (wanted: Wanted, reader: Reader) => boolean
  readonly drop: (wanted: Wanted, reader: Reader) => void
}

interface StreamClient {
  readonly session: MarketSession
  readonly sender: BatchedSender
}

export class MarketHub {
  readonly #registry: ConnectionRegistry
  readonly #clients = new Map<StreamConnection, StreamClient>()

  constructor(deps: MarketHubDeps) {
    this.#registry = new ConnectionRegistry(deps, {
      messageMax: MESSAGE_BYTES_MAX,
      waitingMax: WAITING_MAX,
      ops: ['add', 'drop'],
      loginFields: [],
      protocol: connection => this.#protocol(connection, deps),
      left: connection => this.#left(connection),
      beat: () => ({ sandbox_time: deps.sandboxTime() })
    })
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#registry.accept(request, socket, head)
  }

  /** Carries out a stream fault of the control API. @returns the number of open streams. */
  injectFault(order: StreamFaultSpec): number {
    return this.#registry.injectFault(order)
  }

  /** Ends the streams that were opened with a grant. */
  endGrant(grant: string): void {
    this.#registry.endGrant(grant)
  }

  /** The state of every login's streams. */
  report(): readonly object[] {
    return this.#registry.report().map(({ login, connections }) => ({
      on: 'market',
      login,
      seq: connections.map(({ seq }) => seq),
      waiting: connections.map(connection => this.#clients.get(connection)?.sender.waiting ?? connection.waiting)
    }))
  }

  /** Closes all connections. */
  reset(): void {
    this.#registry.reset()
  }

  /** Closes all connections; waits only briefly for the peers to answer. */
  close(): Promise<void> {
    return this.#registry.close()
  }

  #protocol(connection: StreamConnection, deps: MarketHubDeps): MarketSession {
    const sender = new BatchedSender(connection)
    const session = new MarketSession(connection, {
      sender,
      enrol: () => this.#registry.enrol(connection),
      add: wanted => deps.add(wanted, sender),
      drop: wanted => deps.drop(wanted, sender),
      heartbeatMs: deps.heartbeatMs,
      stamp: deps.stamp,
      sandboxTime: deps.sandboxTime
    })
    this.#clients.set(connection, { session, sender })
    return session
  }

  #left(connection: StreamConnection): void {
    this.#clients.get(connection)?.session.left()
    this.#clients.delete(connection)
  }
}
