/** The account streams: the connections, and the events of each login. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { Channel } from './channel.ts'
import { ConnectionRegistry, type ConnectionRegistryDeps } from './connection-registry.ts'
import { AccountSession } from './session.ts'
import type { StreamFaultSpec } from './stream-faults.ts'

export const STREAM_PATH = '/stream/v1'

const MESSAGE_BYTES_MAX = 16 * 1024
const WAITING_BYTES_MAX = 1024 * 1024

export interface HubDeps extends ConnectionRegistryDeps {
  /** A name that no earlier start of this sandbox and no reset has had. */
  readonly newEpoch: () => string
  readonly accountsOf: (login: string) => readonly string[]
}

export interface StreamEvent {
  readonly ev: 'order' | 'fill' | 'position' | 'balance'
  /** Sandbox time, as the wire shows it. */
  readonly at: string
  /** JSON without its braces. */
  readonly fields: string
}

export class Hub {
  readonly #deps: HubDeps
  readonly #channels = new Map<string, Channel>()
  readonly #registry: ConnectionRegistry
  #epoch: string

  constructor(deps: HubDeps) {
    this.#deps = deps
    this.#epoch = deps.newEpoch()
    this.#registry = new ConnectionRegistry(deps, {
      messageMax: MESSAGE_BYTES_MAX,
      waitingMax: WAITING_BYTES_MAX,
      ops: [],
      loginFields: ['resume'],
      protocol: connection =>
        new AccountSession(connection, {
          enrol: () => this.#registry.enrol(connection),
          epoch: () => this.#epoch,
          channel: login => this.#channelOf(login),
          heartbeatMs: deps.heartbeatMs,
          accountsOf: deps.accountsOf,
          stamp: deps.stamp
        }),
      left: () => undefined,
      beat: () => ({})
    })
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#registry.accept(request, socket, head)
  }

  /** Whether this login ever had a stream: without one no event needs to be encoded. */
  listens(login: string): boolean {
    return this.#channels.has(login)
  }

  /**
   * Sends one event to all streams of a login. `fields` follows the event's head: `"order":{…}`. Does nothing for a login without streams.
   */
  publish(login: string, { ev, at, fields }: StreamEvent): void {
    const stamp = this.#deps.stamp()
    const event = this.#channels.get(login)?.add(seq => `{"ev":"${ev}","seq":${seq},"at":"${at}","as_of":"${stamp}",${fields}}`)
    if (event === undefined) return
    for (const connection of this.#registry.of(login)) connection.event(event.frame)
  }

  /** Carries out a stream fault of the control API. @returns the number of open streams. */
  injectFault(spec: StreamFaultSpec): number {
    return this.#registry.injectFault(spec)
  }

  /** Ends the streams that were opened with a grant. */
  endGrant(grant: string): void {
    this.#registry.endGrant(grant)
  }

  /** The state of every login's streams. */
  report(): readonly object[] {
    return this.#registry.report().map(({ login, connections }) => ({
      on: 'account',
      login,
      seq: this.#channels.get(login)?.seq ?? 0,
      waiting: connections.map(({ waiting }) => waiting),
      peers: connections.map(({ peer }) => peer)
    }))
  }

  /** Begins a new epoch: the events so far belong to a previous state. */
  reset(): void {
    this.#epoch = this.#deps.newEpoch()
    this.#channels.clear()
    this.#registry.reset()
  }

  /** Closes all connections; waits only briefly for the peers to answer. */
  close(): Promise<void> {
    return this.#registry.close()
  }

  #channelOf(login: string): Channel {
    const known = this.#channels.get(login)
    if (known !== undefined) return known
    const fresh = new Channel()
    this.#channels.set(login, fresh)
    return fresh
  }
}
