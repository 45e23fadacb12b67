/** One connection of the market stream: the login, the requests and the sandbox's answers to them, and the sequence numbers of its messages. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { readJson } from '../../kit/json.ts'
import { displayTextOrNull, field, integer, memberOr, object, text, timestampOrNull, type Wire } from '../../kit/parse.ts'
import { Sequence, type Sequenced } from '../../kit/sequence.ts'
import type { Closing, Connection, StreamMessage, StreamProtocol } from '../../kit/stream-protocol.ts'
import type { StreamToken } from '../quirks.ts'
import { type SubscribeRequest, subscribeFrames, unsubscribeFrames } from './subscribe-requests.ts'
import type { Subscription } from './subscription.ts'

/** Messages that may wait for an earlier one. They can be long, and the next heartbeat decides anyway. */
const AHEAD_MAX = 8
const HEARTBEAT_MS_LEAST = 10
/** A message of items is fully handled by the time its frame handler returns. */
const NOTHING: readonly StreamMessage<never>[] = []

/** Receives the results as messages arrive. */
export interface MarketProtocolOwner {
  /** The sandbox has accepted the login; topics can be requested. */
  opened(protocol: MarketProtocol): void
  streamed(subscription: Subscription): void
  refused(subscription: Subscription, message: string): void
  /** A message did not come: everything may miss something. */
  missed(reason: string): void
  /** @throws Malformed */
  items(items: readonly unknown[]): void
  sandboxTime(at: Timestamp): void
}

export class MarketProtocol implements StreamProtocol<never> {
  readonly url: string
  readonly #token: StreamToken
  readonly #owner: MarketProtocolOwner
  #connection: Connection<never> | null = null
  #messages: Sequence<readonly unknown[]> | null = null
  #lastNumber = 0
  /** Requests not answered yet, by number. */
  readonly #pending = new Map<number, SubscribeRequest>()

  constructor(url: string, token: StreamToken, owner: MarketProtocolOwner) {
    this.url = url
    this.#token = token
    this.#owner = owner
  }

  get hello(): readonly string[] {
    return [JSON.stringify({ op: 'login', token: this.#token.text })]
  }

  onFrame(frame: string): readonly StreamMessage<never>[] {
    const message = object(readJson(frame), 'message')
    if (this.#messages === null) return this.#answered(message)
    const { items } = message
    if (Array.isArray(items)) this.#released(this.#messages.offer(integer(message, 'seq'), items))
    else this.#status(message, this.#messages)
    return NOTHING
  }

  maintain(connection: Connection<never>): Promise<number> {
    const isFirst = this.#connection === null
    this.#connection = connection
    if (isFirst) this.#owner.opened(this)
    return this.#token.maintain(connection)
  }

  closed(code: number): Closing | null {
    return this.#token.closed(code)
  }

  subscribe(subscriptions: readonly Subscription[]): void {
    for (const { request, frame } of subscribeFrames(subscriptions, () => this.#nextNumber())) {
      this.#pending.set(request.number, request)
      this.#connection?.send(frame)
    }
  }

  unsubscribe(subscriptions: readonly Subscription[]): void {
    for (const frame of unsubscribeFrames(subscriptions, () => this.#nextNumber())) this.#connection?.send(frame)
  }

  #nextNumber(): number {
    this.#lastNumber += 1
    return this.#lastNumber
  }

  #answered(message: Wire): readonly StreamMessage<never>[] {
    const ev = text(message, 'ev', 32)
    if (ev === 'denied') {
      const code = text(message, 'code', 64)
      // A refused token is settled when the socket closes, which the sandbox does next.
      return code === 'token_invalid' ? [] : [{ type: 'over', cause: 'refused', reason: `the sandbox denied the market stream (${code})` }]
    }
    if (ev !== 'ready') throw new Malformed('ev', 'ready or denied', ev)
    this.#syncTime(message)
    this.#messages = new Sequence(0, AHEAD_MAX)
    return [{ type: 'live', heartbeatMs: Math.max(HEARTBEAT_MS_LEAST, integer(message, 'heartbeat_ms')) }]
  }

  #status(message: Wire, messages: Sequence<readonly unknown[]>): void {
    const event = memberOr(message, 'ev', { heartbeat: 'heartbeat', added: 'added', problem: 'problem' } as const, null)
    if (event === null) {
      // A message of an unknown kind may be skipped, but one without a kind is no message of the sandbox.
      text(message, 'ev', 32)
      return
    }
    switch (event) {
      case 'heartbeat':
        this.#heartbeat(message, messages)
        break
      case 'added':
        this.#added(message)
        break
      case 'problem':
        this.#problem(message)
    }
  }

  #heartbeat(message: Wire, messages: Sequence<readonly unknown[]>): void {
    this.#syncTime(message)
    const seq = integer(message, 'seq')
    this.#released(messages.settle(seq))
    // One number far ahead of the truth, and everything after it would be taken for a repetition.
    if (seq < messages.last) throw new Malformed('seq', `at least ${messages.last}, the last message that came`, seq)
  }

  #added(message: Wire): void {
    const number = integer(message, 'n')
    const request = this.#pending.get(number)
    if (request === undefined) return
    this.#pending.delete(number)
    const streamed = texts(message, 'symbols')
    const unknown = texts(message, 'unknown')
    for (const subscription of request.subscriptions) {
      if (subscription.requestNumber !== number) continue
      const { symbol } = subscription.topic
      if (streamed.has(symbol)) this.#owner.streamed(subscription)
      else if (unknown.has(symbol)) this.#owner.refused(subscription, `the broker has no ${subscription.topic.channel} of ${symbol}`)
      else throw new Malformed('symbols', `a list that answers for ${symbol}, or unknown to do so`, [...streamed].slice(0, 5))
    }
  }

  /** Only a request can be refused; after any other problem that the sandbox reports it is unknown what it streams. */
  #problem(message: Wire): void {
    const detail = displayTextOrNull(message, 'message') ?? text(message, 'code', 64)
    const number = field(message, 'n') === null ? null : integer(message, 'n')
    if (number === null) throw new Malformed('our message', 'one the sandbox can read', detail)
    const request = this.#pending.get(number)
    this.#pending.delete(number)
    for (const subscription of request?.subscriptions ?? [])
      if (subscription.requestNumber === number) this.#owner.refused(subscription, detail)
  }

  #released({ items, hasGap }: Sequenced<readonly unknown[]>): void {
    if (hasGap) this.#owner.missed('the sandbox counted a message of the market stream that did not arrive')
    for (const each of items) this.#owner.items(each)
  }

  #syncTime(message: Wire): void {
    const at = timestampOrNull(message, 'sandbox_time')
    if (at !== null) this.#owner.sandboxTime(at)
  }
}

function texts(wire: Wire, key: string): ReadonlySet<string> {
  const value = field(wire, key)
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return new Set(value)
  throw new Malformed(key, 'a list of strings', value)
}
