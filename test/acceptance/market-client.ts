// A client of the market data stream that keeps everything it receives and takes nothing that the specification does not promise.

import assert from 'node:assert/strict'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { WebSocket } from 'ws'
import type { Body } from './api.ts'
import { type Channel, isUpdate, replyComplaint, updateComplaint } from './market-forms.ts'

export interface SocketClose {
  readonly code: number
  readonly reason: string
}

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
export class MarketClient implements AsyncDisposable {
  /** Messages that answer no request, or none that can be named. */
  readonly notices: Body[] = []
  received = 0
  /** Called with each message the moment it comes. */
  onMessage: (message: Body) => void = () => undefined
  lastText = ''
  readonly #socket: WebSocket
  readonly #judges: boolean
  readonly #answers = new Map<string, Body[]>()
  readonly #subscriptions = new Map<string, { readonly channel: Channel; readonly greeks: boolean; readonly updates: Update[] }>()
  readonly #sent = new Map<string, Body>()
  readonly #over = new Set<string>()
  #noticeAt = 0
  #requests = 0
  #fault: Error | null = null
  #failure: Error | null = null
  #close: SocketClose | null = null
  #change = Promise.withResolvers<void>()

  private constructor(socket: WebSocket, judges: boolean) {
    this.#socket = socket
    this.#judges = judges
    socket.on('message', (data, isBinary) => this.#take(String(data), isBinary))
    socket.on('open', () => this.#notify())
    socket.on('error', cause => (this.#failure ??= cause))
    socket.on('close', (code, reason) => {
      this.#close = { code, reason: String(reason) }
      this.#notify()
    })
  }

  static async connect(url: string, { address, judges = true }: Options = {}): Promise<MarketClient> {
    const headers = address === undefined ? {} : { 'x-forwarded-for': address }
    const client = new MarketClient(new WebSocket(url, { headers, perMessageDeflate: false }), judges)
    await client.until(() => client.#socket.readyState === WebSocket.OPEN, 'the socket is open')
    return client
  }

  get isOver(): boolean {
    return this.#close !== null
  }

  /** Sends text and bytes as they are, anything else as JSON. */
  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  /** Sends a part of a message; bytes may be sent as text, whether they are or not. */
  sendPart(part: string | Uint8Array, isLast: boolean, isText = typeof part === 'string'): void {
    this.#socket.send(part, { fin: isLast, binary: !isText })
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

  /** Returns when `condition` holds after something was received; fails when the session ends before. */
  async until(condition: () => boolean, what: string, limitMs = PATIENCE_MS): Promise<void> {
    const deadline = performance.now() + limitMs
    for (;;) {
      if (this.#fault !== null) throw this.#fault
      if (condition()) return
      const last = this.lastText.slice(0, 300)
      assert.equal(
        this.#close,
        null,
        `the session ended before ${what}: ${this.#close?.code} ${this.#close?.reason} ${this.#failure ?? ''} after ${last}`
      )
      await this.#wait(deadline, () => `waited ${limitMs} ms in vain until ${what}; the last that came was ${last}`)
    }
  }

  /** How the session was ended. */
  async ended(limitMs = PATIENCE_MS): Promise<SocketClose> {
    const deadline = performance.now() + limitMs
    for (;;) {
      if (this.#close !== null) return this.#close
      await this.#wait(
        deadline,
        () => `waited ${limitMs} ms in vain for the session's end; the last that came was ${this.lastText.slice(0, 300)}`
      )
    }
  }

  /** Takes nothing from the network until {@link resume}. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  async close(): Promise<void> {
    if (this.#close === null) this.#socket.close()
    await this.ended().finally(() => this.#socket.terminate())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume()
    await this.close()
    if (this.#fault !== null) throw this.#fault
  }

  #take(text: string, isBinary: boolean): void {
    this.received += 1
    this.lastText = text
    const message: Body = isBinary ? null : parsed(text)
    this.onMessage(message)
    const wrong = isUpdate(message) ? this.#update(message) : this.#reply(message)
    if (wrong !== null) this.#fault ??= new Error(`not what is promised: ${text.slice(0, 1_000)}\n${wrong}`)
    this.#notify()
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

  async #wait(deadline: number, complaint: () => string): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error(complaint())), Math.max(0, deadline - performance.now()))
    await Promise.race([this.#change.promise, late]).finally(() => clearTimeout(timer))
  }

  #notify(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers<void>()
  }
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
