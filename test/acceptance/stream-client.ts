// A client of the broker stream that keeps everything it receives, and takes nothing that the service's own description does not promise.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { WebSocket } from 'ws'
import type { Body } from './api.ts'
import type { StreamContract } from './stream-contract.ts'

const UPDATES: ReadonlySet<unknown> = new Set(['orders', 'positions', 'balances'])

/** One message as it came. */
export interface ReceivedMessage {
  readonly text: string
  readonly message: Body
}

export interface SocketClose {
  readonly code: number
  readonly reason: string
}

export interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

/** One session. Replies are taken one by one; updates and statuses gather. */
export class StreamClient implements AsyncDisposable {
  /** Everything, in the order in which it came. */
  readonly received: ReceivedMessage[] = []
  readonly updates: ReceivedMessage[] = []
  readonly statuses: Body[] = []
  /** Called with each update the moment it comes. */
  onUpdate: (received: ReceivedMessage) => void = () => undefined
  readonly #socket: WebSocket
  readonly #contract: StreamContract | null
  readonly #replies: Body[] = []
  #replyAt = 0
  #markers = 0
  #pings = 0
  /** What it sent that it does not promise. */
  #fault: Error | null = null
  /** What went wrong with the socket, for the message of its end. */
  #failure: Error | null = null
  #close: SocketClose | null = null
  #change = Promise.withResolvers<void>()

  private constructor(socket: WebSocket, contract: StreamContract | null) {
    this.#socket = socket
    this.#contract = contract
    socket.on('message', (data, isBinary) => this.#take(String(data), isBinary))
    socket.on('ping', () => (this.#pings += 1))
    socket.on('error', cause => (this.#failure ??= cause))
    socket.on('close', (code, reason) => {
      this.#close = { code, reason: String(reason) }
      this.#notify()
    })
  }

  /** A session that has not sent anything yet. Without a contract it takes whatever comes. */
  static connect(url: string, contract: StreamContract | null): StreamClient {
    return new StreamClient(new WebSocket(url), contract)
  }

  get pings(): number {
    return this.#pings
  }

  /** The extensions of the WebSocket protocol that the server agreed to. */
  get negotiated(): string {
    return this.#socket.extensions
  }

  /** Sends a message: text and bytes as they are, anything else as JSON. */
  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  /** The next reply that nobody has taken. */
  async reply(): Promise<Body> {
    await this.until(() => this.#replies.length > this.#replyAt, `reply ${this.#replyAt + 1} has come`)
    return this.#replies[this.#replyAt++]
  }

  /** Sends a message and gives the reply to it. */
  ask(message: unknown): Promise<Body> {
    this.send(message)
    return this.reply()
  }

  async welcomed(): Promise<Body> {
    const welcome = await this.reply()
    assert.equal(welcome.type, 'welcome')
    return welcome
  }

  async authenticate({ client_id, client_secret }: Credentials, more: Body = {}): Promise<void> {
    const reply = await this.ask({ action: 'authenticate', client_id, client_secret, ...more })
    assert.equal(reply.type, 'auth_success', JSON.stringify(reply))
  }

  async subscribe(...topics: readonly string[]): Promise<Body> {
    const reply = await this.ask({ action: 'subscribe', topics })
    assert.equal(reply.type, 'subscribed', JSON.stringify(reply))
    return reply
  }

  /** Subscribes to a user; with `after`, until the replay is over. Gives the `seq` the updates follow. */
  async follow(userId: string, after?: number): Promise<number> {
    const reply = await this.ask({ action: 'subscribe_user', user_id: userId, ...(after !== undefined && { after }) })
    assert.deepEqual([reply.type, reply.user_id], ['user_subscribed', userId], JSON.stringify(reply))
    if (after !== undefined) await this.caughtUp(userId)
    return reply.seq
  }

  async caughtUp(userId: string): Promise<number> {
    const reply = await this.reply()
    assert.deepEqual([reply.type, reply.user_id], ['caught_up', userId], JSON.stringify(reply))
    return reply.seq
  }

  async unfollow(userId: string): Promise<void> {
    assert.deepEqual(await this.ask({ action: 'unsubscribe_user', user_id: userId }), { type: 'user_unsubscribed', user_id: userId })
  }

  /** Fails unless the service has nothing to send to this session: what it sends next is the answer to a ping. */
  async quiet(): Promise<void> {
    const seq = ++this.#markers
    assert.deepEqual(await this.ask({ action: 'ping', seq }), { type: 'pong', seq })
  }

  /** The texts of one user's updates, above `after`. */
  texts(userId: string, after = 0): readonly string[] {
    return this.of(userId)
      .filter(({ message }) => message.seq > after)
      .map(({ text }) => text)
  }

  of(userId: string): readonly ReceivedMessage[] {
    return this.updates.filter(({ message }) => message.user_id === userId)
  }

  /** Returns when `condition` holds after something was received; fails when the session ends before. */
  async until(condition: () => boolean, what: string, limitMs = PATIENCE_MS): Promise<void> {
    const deadline = performance.now() + limitMs
    for (;;) {
      if (this.#fault !== null) throw this.#fault
      if (condition()) return
      const last = this.received.at(-1)?.text.slice(0, 300)
      assert.equal(this.#close, null, `the session ended before ${what}: ${this.#close?.code} ${this.#failure ?? ''} after ${last}`)
      await this.#wait(deadline, () => `waited ${limitMs} ms in vain until ${what}; the last that came was ${last}`)
    }
  }

  /** How the session was ended. */
  async ended(limitMs = PATIENCE_MS): Promise<SocketClose> {
    const deadline = performance.now() + limitMs
    for (;;) {
      if (this.#close !== null) return this.#close
      await this.#wait(deadline, () => `waited ${limitMs} ms in vain for the session's end`)
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
    const message: Body = isBinary ? null : parsed(text)
    const complaint = this.#contract?.complaint(message) ?? null
    if (complaint !== null) this.#fault ??= new Error(`not of the promised form: ${text.slice(0, 1_000)}\n${complaint}`)
    const received = { text, message }
    this.received.push(received)
    if (UPDATES.has(message?.type)) {
      this.updates.push(received)
      this.onUpdate(received)
    } else if (message?.type === 'stream_status') this.statuses.push(message)
    else this.#replies.push(message)
    this.#notify()
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

/** Asks for a WebSocket where none is given, and gives the HTTP answer. */
export async function refusalOf(url: string): Promise<{ readonly status: number | undefined; readonly body: Body }> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16, 7).toString('base64')
  }
  const outgoing = request(url.replace(/^ws/, 'http'), { headers }).end()
  const [response]: IncomingMessage[] = await once(outgoing, 'response', { signal: AbortSignal.timeout(PATIENCE_MS) })
  assert.ok(response !== undefined)
  return { status: response.statusCode, body: JSON.parse((await response.setEncoding('utf8').toArray()).join('')) }
}
