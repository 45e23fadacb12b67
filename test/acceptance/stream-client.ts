// A client of the broker stream that keeps everything it receives, and takes nothing that the service's own description does not promise.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import type { Body } from './api.ts'
import { SocketClient } from './socket-client.ts'
import type { StreamContract } from './stream-contract.ts'

const UPDATES: ReadonlySet<unknown> = new Set(['orders', 'positions', 'balances'])

/** One message as it came. */
export interface ReceivedMessage {
  readonly text: string
  readonly message: Body
}

export interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

/** One session. Replies are taken one by one; updates and statuses gather. */
export class StreamClient extends SocketClient {
  /** Everything, in the order in which it came. */
  readonly received: ReceivedMessage[] = []
  readonly updates: ReceivedMessage[] = []
  readonly statuses: Body[] = []
  /** Called with each update the moment it comes. */
  onUpdate: (received: ReceivedMessage) => void = () => undefined
  readonly #contract: StreamContract | null
  readonly #replies: Body[] = []
  #replyAt = 0
  #markers = 0
  #pings = 0

  private constructor(url: string, contract: StreamContract | null) {
    super(url)
    this.#contract = contract
    this.socket.on('ping', () => (this.#pings += 1))
  }

  /** A session that has not sent anything yet. Without a contract it takes whatever comes. */
  static connect(url: string, contract: StreamContract | null): StreamClient {
    return new StreamClient(url, contract)
  }

  get pings(): number {
    return this.#pings
  }

  /** The extensions of the WebSocket protocol that the server agreed to. */
  get negotiated(): string {
    return this.socket.extensions
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

  protected take(text: string, message: Body): string | null {
    const received = { text, message }
    this.received.push(received)
    if (UPDATES.has(message?.type)) {
      this.updates.push(received)
      this.onUpdate(received)
    } else if (message?.type === 'stream_status') this.statuses.push(message)
    else this.#replies.push(message)
    return this.#contract?.complaint(message) ?? null
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
