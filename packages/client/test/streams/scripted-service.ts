import type { SeededChance } from '@trunkline/testkit/chance'
import type { Update } from '../../src/streams/broker/items.ts'
import { orderUpdate } from './records.ts'
import type { Network, ScriptedSocket } from './scripted-socket.ts'

/** What a session of the service has to send, and does for each user. */
interface Session {
  readonly socket: ScriptedSocket
  readonly unsent: object[]
  /** How many of the client's messages were read. */
  read: number
  readonly users: Set<string>
}

/** Updates that the service replays. */
const REPLAYED_MAX = 10

/** The broker stream as its guide describes it: answers in the order of the requests, updates in the order of their numbers. */
export class ScriptedService {
  readonly #network: Network
  readonly #chance: SeededChance
  readonly #last = new Map<string, number>()
  #session: Session | null = null
  /** None of its refusals or failures happen any more. */
  isCalm = false

  constructor(network: Network, chance: SeededChance) {
    this.#network = network
    this.#chance = chance
  }

  lastSeq(userId: string): number {
    return this.#last.get(userId) ?? 0
  }

  happen(userId: string): void {
    const seq = this.lastSeq(userId) + 1
    this.#last.set(userId, seq)
    if (this.#session?.users.has(userId)) this.#session.unsent.push(updateOf(userId, seq))
  }

  /** Accepts a connection, or reads one message of the present one. */
  read(): void {
    const { last } = this.#network
    if (last.isClosed) return
    if (this.#session?.socket !== last) {
      this.#session = { socket: last, unsent: [{ type: 'welcome' }], read: 0, users: new Set() }
      last.open()
      return
    }
    const message = last.sent[this.#session.read]
    if (message === undefined) return
    this.#session.read += 1
    this.#answer(this.#session, message)
  }

  /** Sends one message. */
  send(): void {
    const message = this.#session?.unsent.shift()
    if (message !== undefined) this.#session?.socket.receive(message)
  }

  /** The connection breaks, with what is on its way. */
  drop(): void {
    const { last } = this.#network
    if (!last.isClosed) last.drop()
  }

  /** Whether the present session sends a reader that has this update just what happens next. */
  isLiveAt(userId: string, seq: number): boolean {
    if (this.#session === null || this.#session.socket.isClosed || !this.#session.users.has(userId)) return false
    const unsent = this.#session.unsent.filter(message => 'user_id' in message && message.user_id === userId)
    return unsent.every(message => 'event_id' in message) && seq + unsent.length === this.lastSeq(userId)
  }

  async *events(userId: string, after: number): AsyncGenerator<Update> {
    for (let seq = after + 1; seq <= this.lastSeq(userId); seq += 1) {
      if (!this.isCalm && this.#chance.happens(0.05)) throw new Error('no connection')
      yield updateOf(userId, seq)
    }
  }

  #answer({ unsent, users }: Session, { action, user_id: id, after }: Readonly<Record<string, unknown>>): void {
    const userId = String(id)
    if (action === 'authenticate') unsent.push({ type: 'auth_success' })
    else if (action === 'ping') unsent.push({ type: 'pong' })
    else if (action === 'unsubscribe_user') {
      users.delete(userId)
      unsent.push({ type: 'user_unsubscribed', user_id: userId })
    } else if (action === 'subscribe_user') {
      const last = this.lastSeq(userId)
      const from = typeof after === 'number' ? after : last
      const isRefused = last - from > REPLAYED_MAX || (!this.isCalm && this.#chance.happens(0.05))
      if (isRefused) return void unsent.push({ type: 'subscription_failed', user_id: userId, message: 'not now' })
      users.add(userId)
      unsent.push({ type: 'user_subscribed', user_id: userId, seq: from })
      for (let seq = from + 1; seq <= last; seq += 1) unsent.push(updateOf(userId, seq))
      if (typeof after === 'number') unsent.push({ type: 'caught_up', user_id: userId, seq: last })
    }
  }
}

function updateOf(userId: string, seq: number): Update {
  return { ...orderUpdate(seq), user_id: userId }
}
