import { RawSocket } from './raw-socket.ts'
import { isUpdate } from './update.ts'

export interface SessionPlan {
  readonly url: string
  readonly localAddress: string
  /** Null for a floor, which needs none. */
  readonly subscription: Subscription | null
}

export interface Subscription {
  readonly clientId: string
  readonly clientSecret: string
  readonly topics: readonly string[]
  readonly userIds: readonly string[]
}

/** Called for each update; the bytes are reused afterwards. */
export type UpdateHandler = (bytes: Buffer, start: number, end: number) => void

const ANSWER_MS = 30_000

/** One client of a measurement: authenticates and subscribes like any client, then passes every update on. */
export class Session implements Disposable {
  readonly #socket: RawSocket
  readonly #counts = new Map<string, number>()
  /** The `seq` after which each user's updates begin. */
  readonly startsAfter = new Map<string, number>()
  #refusal: string | null = null
  #stirred: (() => void) | null = null

  private constructor(socket: RawSocket) {
    this.#socket = socket
  }

  /** Resolves once every request was answered. @throws Error with the service's message if it refused one. */
  static async open({ url, localAddress, subscription }: SessionPlan, onUpdate: UpdateHandler): Promise<Session> {
    let session: Session | null = null
    const early: string[] = []
    const socket = await RawSocket.open({
      url,
      localAddress,
      onMessage(bytes, start, end) {
        if (isUpdate(bytes, start)) return onUpdate(bytes, start, end)
        const text = bytes.toString('utf8', start, end)
        if (session === null) early.push(text)
        else session.#onMessage(text)
      }
    })
    session = new Session(socket)
    for (const text of early) session.#onMessage(text)
    if (subscription !== null) await session.#subscribe(subscription)
    return session
  }

  /** The close code, once the connection has closed. */
  get closed(): Promise<number> {
    return this.#socket.closed
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  [Symbol.dispose](): void {
    this.#socket[Symbol.dispose]()
  }

  async #subscribe({ clientId, clientSecret, topics, userIds }: Subscription): Promise<void> {
    this.send({ action: 'authenticate', client_id: clientId, client_secret: clientSecret })
    await this.#answers('auth_success', 1)
    this.send({ action: 'subscribe', topics })
    for (const userId of userIds) this.send({ action: 'subscribe_user', user_id: userId })
    await this.#answers('subscribed', 1)
    await this.#answers('user_subscribed', userIds.length)
  }

  #onMessage(text: string): void {
    const message = Object(JSON.parse(text))
    const type = String(message.type)
    this.#counts.set(type, (this.#counts.get(type) ?? 0) + 1)
    if (type === 'user_subscribed') this.startsAfter.set(String(message.user_id), Number(message.seq))
    if (['auth_error', 'subscription_failed', 'error', 'user_unsubscribed'].includes(type)) this.#refusal ??= text
    this.#stirred?.()
  }

  async #answers(type: string, count: number): Promise<void> {
    const patience = AbortSignal.timeout(ANSWER_MS)
    while ((this.#counts.get(type) ?? 0) < count) {
      if (this.#refusal !== null) throw new Error(`the service refused: ${this.#refusal}`)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      this.#stirred = resolve
      const giveUp = () => reject(new Error(`${this.#counts.get(type) ?? 0} of ${count} ${type} came within ${ANSWER_MS} ms`))
      patience.addEventListener('abort', giveUp, { once: true })
      void this.closed.then(code => reject(new Error(`the service closed the session with ${code}`)))
      await promise.finally(() => patience.removeEventListener('abort', giveUp))
    }
  }
}
