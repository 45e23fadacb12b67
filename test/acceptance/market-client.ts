// A client of the market data stream that keeps everything it receives and takes nothing that the specification does not promise.

import assert from 'node:assert/strict'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { WebSocket } from 'ws'
import type { Body } from './api.ts'
import { type Channel, isUpdate, replyComplaint, updateComplaint } from './market-forms.ts'
import { SocketClient } from './socket-client.ts'

/** An update and when it came, in milliseconds of the process's own clock. */
export interface Update {
  readonly message: Body
  readonly atMs: number
}

export interface Options {
  /** The address of this client as a trusted proxy states it. */
  readonly address?: string
  /** Whether every message is judged in detail; a client that is to keep up with a flood cannot. */
  readonly judges?: boolean
}

const SUBSCRIBE_TRIES_MAX = 10

/** One session. Answers are found by their request ids; what has none gathers. */
export class MarketClient extends SocketClient {
  /** Messages that answer no request, or none that can be named. */
  readonly notices: Body[] = []
  received = 0
  /** Called with each message the moment it comes. */
  onMessage: (message: Body) => void = () => undefined
  readonly #judges: boolean
  readonly #answers = new Map<string, Body[]>()
  readonly #subscriptions = new Map<string, { readonly channel: Channel; readonly greeks: boolean; readonly updates: Update[] }>()
  readonly #sent = new Map<string, Body>()
  readonly #over = new Set<string>()
  #noticeAt = 0
  #requests = 0

  private constructor(url: string, { address, judges = true }: Options) {
    super(url, { headers: address === undefined ? {} : { 'x-forwarded-for': address }, perMessageDeflate: false })
    this.#judges = judges
  }

  static async connect(url: string, options: Options = {}): Promise<MarketClient> {
    const client = new MarketClient(url, options)
    await client.until(() => client.socket.readyState === WebSocket.OPEN, 'the socket is open')
    return client
  }

  /** Sends a part of a message; bytes may be sent as text, whether they are or not. */
  sendPart(part: string | Uint8Array, isLast: boolean, isText = typeof part === 'string'): void {
    this.socket.send(part, { fin: isLast, binary: !isText })
  }

  /** A request id that this session has not used. */
  name(): string {
    return `request-${++this.#requests}`
  }

  /** Sends a message with a request id of its own, unless it has one, and gives the answer that carries it. */
  async ask(message: Body, limitMs = PATIENCE_MS): Promise<Body> {
    const request = { request_id: this.name(), ...message }
    this.begin(request)
    return this.answer(request.request_id, limitMs)
  }

  /** Sends a request without waiting. */
  begin(message: Body): void {
    this.#sent.set(message.request_id, message)
    this.send(message)
  }

  /** The answer to a request. */
  async answer(requestId: string, limitMs = PATIENCE_MS): Promise<Body> {
    await this.until(() => (this.#answers.get(requestId)?.length ?? 0) > 0, `${requestId} is answered`, limitMs)
    return this.#answers.get(requestId)?.shift()
  }

  /** The next message without a request id that nobody has taken. */
  async notice(limitMs = PATIENCE_MS): Promise<Body> {
    await this.until(() => this.notices.length > this.#noticeAt, 'something without a request id is sent', limitMs)
    return this.notices[this.#noticeAt++]
  }

  async authenticate(token: string, more: Body = {}): Promise<Body> {
    const reply = await this.ask({ action: 'authenticate', access_token: token, ...more })
    assert.equal(reply.type, 'auth_success', JSON.stringify(reply))
    return reply
  }

  /** Subscribes and gives the id. A broker that is too slow on a busy machine is asked again, as its refusal advises. */
  async subscribe(channel: Channel, symbol: string, more: Body = {}): Promise<string> {
    const ask = () => this.ask({ action: 'subscribe', channel, symbol, ...more })
    let reply = await ask()
    for (let tries = 1; reply.error_code === 'broker_unavailable' && tries < SUBSCRIBE_TRIES_MAX; tries += 1) reply = await ask()
    assert.equal(reply.type, 'subscription_success', JSON.stringify(reply))
    return reply.sub_id
  }

  async unsubscribe(subId: string): Promise<Body> {
    const reply = await this.ask({ action: 'unsubscribe', sub_id: subId })
    assert.equal(reply.type, 'unsubscription_success', JSON.stringify(reply))
    return reply
  }

  async list(): Promise<readonly Body[]> {
    const reply = await this.ask({ action: 'list_subscriptions' })
    assert.equal(reply.type, 'subscriptions_list', JSON.stringify(reply))
    return reply.subscriptions
  }

  async snapshot(symbol: string, interval: string, from: string, to: string): Promise<readonly Body[]> {
    const reply = await this.ask({ action: 'snapshot', symbol, interval, start_time: from, end_time: to, data_type: 'bars' })
    assert.equal(reply.type, 'snapshot_response', JSON.stringify(reply).slice(0, 500))
    return reply.data
  }

  /** Fails when anything was sent that is no update and no answer; everything sent before has been received when it returns. */
  async quiet(): Promise<void> {
    const before = this.notices.length
    await this.list()
    assert.deepEqual(this.notices.slice(before), [], 'nothing is sent unrequested')
  }

  /** The updates of a subscription so far. */
  updates(subId: string): readonly Update[] {
    return this.#subscriptions.get(subId)?.updates ?? assert.fail(`no subscription ${subId}`)
  }

  messages(subId: string): readonly Body[] {
    return this.updates(subId).map(({ message }) => message)
  }

  /** Returns when there are `count` updates of a subscription. */
  async updated(subId: string, count = 1, limitMs = PATIENCE_MS): Promise<readonly Body[]> {
    await this.until(() => this.updates(subId).length >= count, `${count} updates of ${subId} have come`, limitMs)
    return this.messages(subId)
  }

  protected take(_text: string, message: Body): string | null {
    this.received += 1
    this.onMessage(message)
    return isUpdate(message) ? this.#update(message) : this.#reply(message)
  }

  #update(message: Body): string | null {
    const subscription = this.#subscriptions.get(message.sub_id)
    if (subscription === undefined) return `an update of ${message.sub_id}, which this session is not subscribed to`
    if (this.#over.has(message.sub_id)) return 'an update after the end of its subscription'
    subscription.updates.push({ message, atMs: performance.now() })
    return this.#judges ? updateComplaint(subscription.channel, message, subscription.greeks) : null
  }

  #reply(message: Body): string | null {
    const id = message?.request_id ?? null
    if (id === null) this.notices.push(message)
    else {
      const request = this.#sent.get(id)
      if (message.type === 'subscription_success' && request !== undefined)
        this.#subscriptions.set(message.sub_id, { channel: request.channel, greeks: request.greeks === true, updates: [] })
      if (message.type === 'unsubscription_success') this.#over.add(message.sub_id)
      const answers = this.#answers.get(id) ?? []
      this.#answers.set(id, [...answers, message])
    }
    return this.#judges ? replyComplaint(message) : null
  }
}
