import { readFile } from 'node:fs/promises'
import type { NatsConnection, Subscription } from '@nats-io/transport-node'
import { connect } from '@nats-io/transport-node'
import { type BackoffLimits, backoffMs } from '@trunkline/core/app/backoff'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import { type NatsAccess, optionsOfAccess } from './nats-access.ts'
import { NatsSession, type Published, type SessionLimits } from './nats-session.ts'

export interface LinkLimits extends SessionLimits {
  readonly dialMs: number
  readonly reconnect: BackoffLimits
}

export const LINK_LIMITS: LinkLimits = {
  unconfirmedBytes: 8 * 1024 * 1024,
  confirmBytes: 1024 * 1024,
  heartbeatMs: 1_000,
  stalledMs: 5_000,
  dialMs: 5_000,
  reconnect: { firstMs: 100, longestMs: 3_000 }
}

export interface LinkOptions extends NatsAccess {
  /** The name that operators of NATS see. */
  readonly name: string
  readonly limits: LinkLimits
}

export interface LinkDeps {
  readonly clock: Pick<Clock, 'sleep'>
  readonly ids: Pick<Ids, 'fraction'>
  readonly log: Log
}

export interface LinkHandlers {
  /** A message of a subscribed subject. Valid until the handler returns. */
  message(subject: string, data: Uint8Array): void
  /** Every subscription is in effect at the server. */
  connected(): void
}

/** Looks at the servers within one attempt of the client. A new attempt also forgets its dials, which it dates by the wall clock. */
const LOOKS_MAX = 40
const UNREACHABLE = 'NATS cannot be reached; this node goes on without, and finds updates in the database'
const LOST = 'the connection to NATS was lost; this node goes on without, and finds updates in the database'

/** Holds one connection to NATS for as long as the node runs, and its subscriptions. Nothing waits while there is none. */
export class NatsLink {
  readonly #options: LinkOptions
  readonly #deps: LinkDeps
  readonly #handlers: LinkHandlers
  readonly #subjects = new Map<string, Subscription | null>()
  readonly #stopping = new AbortController()
  #session: NatsSession | null = null
  #running: Promise<void> | null = null
  #connects = 0
  #hasWarned = false

  constructor(options: LinkOptions, deps: LinkDeps, handlers: LinkHandlers) {
    this.#options = options
    this.#deps = deps
    this.#handlers = handlers
  }

  get isConnected(): boolean {
    return this.#session !== null && !this.#session.isEnded
  }

  /** Connections that replaced an earlier one. */
  get reconnects(): number {
    return Math.max(0, this.#connects - 1)
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Drops what the server has not taken yet. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#session?.close()
    await this.#running
  }

  /** Never throws and never waits. */
  publish(subject: string, data: Uint8Array): Published {
    return this.#session?.publish(subject, data) ?? 'disconnected'
  }

  subscribe(subject: string): void {
    if (!this.#subjects.has(subject)) this.#subjects.set(subject, this.#open(subject))
  }

  unsubscribe(subject: string): void {
    const subscription = this.#subjects.get(subject)
    this.#subjects.delete(subject)
    subscription?.unsubscribe()
  }

  /** Whether the server has handled everything that this node sent before. */
  async confirm(): Promise<boolean> {
    return (await this.#session?.confirm()) ?? false
  }

  #open(subject: string): Subscription | null {
    return this.#session?.subscribe(subject, (error, of, data) => this.#receive(error, of, data)) ?? null
  }

  #receive(error: Error | null, subject: string, data: Uint8Array): void {
    try {
      if (error === null) this.#handlers.message(subject, data)
      else this.#deps.log.error('NATS refused a subscription of this node; give it the permission', { cause: error })
    } catch (cause) {
      this.#deps.log.error('a message of another node could not be handled', { cause })
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 0; !signal.aborted; ) {
      const connection = await this.#dial()
      // A server, or a proxy before it, that takes connections only to drop them is no better than one that refuses them.
      const hasLasted = connection !== null && (await this.#serve(connection))
      failures = hasLasted ? 0 : failures + 1
      if (!hasLasted) await this.#deps.clock.sleep(this.#pauseMs(failures), signal).catch(() => undefined)
    }
  }

  #pauseMs(failures: number): number {
    return backoffMs(this.#options.limits.reconnect, failures, this.#deps.ids.fraction())
  }

  /** Null: no server could be connected to, or this node stops. */
  async #dial(): Promise<NatsConnection | null> {
    const { signal } = this.#stopping
    const { promise, resolve, reject } = Promise.withResolvers<NatsConnection | null>()
    const stop = () => resolve(null)
    signal.addEventListener('abort', stop, { once: true })
    try {
      const { credentialsFile } = this.#options
      const credentials = credentialsFile === null ? null : await readFile(credentialsFile)
      // The client's attempt cannot be ended from outside. It ends with its next dial, and closes what it has opened.
      connect(this.#connectOptions(credentials)).then(connection => {
        if (signal.aborted) void connection.close().catch(() => undefined)
        resolve(signal.aborted ? null : connection)
      }, reject)
      return await promise
    } catch (cause) {
      this.#warn(UNREACHABLE, cause)
      return null
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #connectOptions(credentials: Uint8Array | null): Parameters<typeof connect>[0] {
    const { name, limits } = this.#options
    return {
      name,
      ...optionsOfAccess(this.#options, credentials),
      noEcho: true,
      timeout: limits.dialMs,
      // Reconnecting is done here: the client's own has an unbounded buffer, and waits for a stalled socket.
      reconnect: false,
      // Within one attempt the client destroys the socket of each failed dial; after it, it would not.
      waitOnFirstConnect: true,
      reconnectDelayHandler: this.#dialPauses()
    }
  }

  /**
   * The pauses between the client's dials. It asks twice for each: before it waits, and before it dials. Throws to end the attempt.
   */
  #dialPauses(): () => number {
    const pauses: number[] = []
    let looks = 0
    return () => {
      if (this.#stopping.signal.aborted) throw new Error('this node stops')
      const failures = Math.floor(++looks / 2)
      if (failures > 0) this.#warn(UNREACHABLE)
      if (looks > LOOKS_MAX) throw new Error('no server answered')
      pauses[failures] ??= this.#pauseMs(Math.max(1, failures))
      return pauses[failures]
    }
  }

  /** Until the connection is lost. Returns whether it lasted. */
  async #serve(connection: NatsConnection): Promise<boolean> {
    const session = new NatsSession(connection, this.#deps.clock, this.#options.limits)
    this.#session = session
    for (const subject of this.#subjects.keys()) this.#subjects.set(subject, this.#open(subject))
    if (await session.confirm()) {
      this.#connects += 1
      this.#hasWarned = false
      this.#deps.log.info('connected to NATS', { reconnects: this.reconnects })
      this.#handlers.connected()
    }
    if (this.#stopping.signal.aborted) session.close()
    const hasLasted = await session.keepAlive()
    this.#session = null
    this.#warn(LOST)
    return hasLasted
  }

  /** Once for each time without a connection. */
  #warn(message: string, cause?: unknown): void {
    if (this.#hasWarned || this.#stopping.signal.aborted) return
    this.#hasWarned = true
    this.#deps.log.warn(message, cause === undefined ? {} : { cause })
  }
}
