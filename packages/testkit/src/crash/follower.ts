// A platform's client of the broker stream: it applies updates, and resumes after every loss.

import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE_MS } from '../patience.ts'
import { within } from '../within.ts'
import type { Demo } from './platform.ts'
import { Replay } from './replay.ts'
import type { Json } from './sandbox-process.ts'

export interface FollowerOptions {
  readonly name: string
  /** The stream's address and the platform's credentials, read again at every connection. */
  readonly demo: () => Demo
  /** The origin of a proxy, if the stream is not reached directly. */
  readonly origin?: () => string
  readonly users: readonly string[]
  /** A number in [0, 1) for the pauses before reconnecting. */
  readonly fraction: () => number
  /** Called with the age of a live order update, in milliseconds. */
  readonly onDelay?: (ms: number) => void
}

const RECONNECT_MS_MAX = 100
/** A socket's `readyState` as text. */
const READY_STATES = ['connecting', 'open', 'closing', 'closed']

/** Follows users over any number of connections. Every violation is recorded: a gap, a repeat, a refusal, an unexpected answer. */
export class Follower implements AsyncDisposable {
  readonly #options: FollowerOptions
  readonly #replays: ReadonlyMap<string, Replay>
  readonly #live = new Set<string>()
  readonly #faults: string[] = []
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #socket: WebSocket | null = null
  #away: PromiseWithResolvers<void> | null = null
  #connections = 0
  #refusals = 0
  #lastRefusal = 'nothing was refused'

  constructor(options: FollowerOptions) {
    this.#options = options
    this.#replays = new Map(options.users.map(userId => [userId, new Replay(userId)]))
    this.#running = this.#run()
  }

  /** How often a connection was opened. */
  get connections(): number {
    return this.#connections
  }

  /** Refused authentications and subscriptions, each followed by a new connection: a lost session's slot is freed only after a while. */
  get refusals(): number {
    return this.#refusals
  }

  /** Why the last one was refused, for the message about a follower that is not live. */
  get lastRefusal(): string {
    return this.#lastRefusal
  }

  /** Whether it has caught up with every user. */
  get isLive(): boolean {
    return this.#live.size === this.#replays.size
  }

  get faults(): readonly string[] {
    const own = this.#faults.map(fault => `${this.#options.name}: ${fault}`)
    return [...own, ...[...this.#replays.values()].flatMap(({ faults }) => faults.map(fault => `${this.#options.name}: ${fault}`))]
  }

  follows(userId: string): boolean {
    return this.#replays.has(userId)
  }

  of(userId: string): Replay {
    const replay = this.#replays.get(userId)
    if (replay === undefined) throw new Error(`${this.#options.name} does not follow ${userId}`)
    return replay
  }

  /** Closes the connection; it reconnects by itself. */
  hangUp(): void {
    this.#socket?.close()
  }

  /** Closes the connection and stays away. */
  leave(): void {
    this.#away ??= Promise.withResolvers<void>()
    this.hangUp()
  }

  /** Connects again after {@link leave}, and resumes. */
  comeBack(): void {
    this.#away?.resolve()
    this.#away = null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.comeBack()
    this.#socket?.close()
    await within(PATIENCE_MS, this.#running, () => `${this.#options.name} had left (its socket is ${this.#state()})`)
  }

  #state(): string {
    return READY_STATES[this.#socket?.readyState ?? WebSocket.CLOSED] ?? 'unknown'
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#connection()
      await delay(this.#options.fraction() * RECONNECT_MS_MAX, undefined, { signal }).catch(() => undefined)
      await this.#away?.promise
    }
  }

  /** Resolves when it is over. */
  async #connection(): Promise<void> {
    const { base_url: base } = this.#options.demo()
    const origin = (this.#options.origin?.() ?? base).replace(/^http/, 'ws')
    const socket = new WebSocket(`${origin}/stream`)
    this.#socket = socket
    this.#connections += 1
    const closed = Promise.withResolvers<void>()
    socket.addEventListener('message', ({ data }) => this.#onMessage(socket, String(data)))
    // A close event always follows an error.
    socket.addEventListener('error', () => undefined)
    socket.addEventListener('close', () => closed.resolve())
    await closed.promise
    this.#live.clear()
  }

  #onMessage(socket: WebSocket, text: string): void {
    const message: Json = JSON.parse(text)
    switch (message.type) {
      case 'welcome': {
        const { client_id, client_secret } = this.#options.demo()
        this.#send(socket, { action: 'authenticate', client_id, client_secret, version: 'v1.0' })
        break
      }
      case 'auth_success':
        this.#send(socket, { action: 'subscribe', topics: ['all'] })
        break
      case 'subscribed':
        for (const [userId, { seq }] of this.#replays) this.#send(socket, { action: 'subscribe_user', user_id: userId, after: seq })
        break
      case 'auth_error':
      case 'subscription_failed':
        this.#refusals += 1
        this.#lastRefusal = text
        socket.close()
        break
      case 'user_subscribed':
        if (message.seq !== this.#replays.get(message.user_id)?.seq) this.#fault(`was subscribed elsewhere than requested: ${text}`)
        break
      case 'caught_up':
        if (message.seq !== this.#replays.get(message.user_id)?.seq) this.#fault(`received more than expected: ${text}`)
        this.#live.add(message.user_id)
        break
      case 'orders':
      case 'positions':
      case 'balances':
        this.#update(message)
        break
      default:
        this.#fault(`received ${text.slice(0, 300)}`)
    }
  }

  #update(update: Json): void {
    const replay = this.#replays.get(update.user_id)
    replay?.apply(update)
    if (replay === undefined) this.#fault(`received ${update.user_id}, whom it does not follow`)
    else if (update.type === 'orders' && this.#live.has(update.user_id)) this.#options.onDelay?.(Date.now() - changedAt(update.data))
  }

  #send(socket: WebSocket, message: object): void {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }

  #fault(what: string): void {
    if (this.#faults.length < 50) this.#faults.push(what)
  }
}

/** When the record last changed: `system_time` is the broker's last report, and requests to us come before it. */
function changedAt(order: Json): number {
  return Math.max(Date.parse(order.system_time), Date.parse(order.last_modified_time))
}
