import type { ConnectedUser } from '../../harness/stage.ts'

const OPEN_MS = 60_000

/** A session of the broker stream that follows all users: when updates of orders and reports about connections came. */
export class Follower implements Disposable {
  /** When an order was first seen, by user and quantity. */
  readonly seen = new Map<string, number>()
  /** When a user's connection was first reported as not live, and last as live. */
  readonly lostAt = new Map<string, number>()
  readonly liveAt = new Map<string, number>()
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static async open(url: string, users: readonly ConnectedUser[]): Promise<Follower> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/stream`)
    const follower = new Follower(socket)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let left = users.length
    socket.onopen = () => follower.#begin(users)
    socket.onerror = () => reject(new Error('a session could not be opened'))
    socket.onmessage = ({ data }) => {
      const message = Object(JSON.parse(String(data)))
      if (message.type === 'user_subscribed') left -= 1
      if (left === 0) resolve()
      follower.#take(message)
    }
    const patience = setTimeout(() => reject(new Error('a session was not subscribed in time')), OPEN_MS)
    await promise.finally(() => clearTimeout(patience))
    return follower
  }

  forget(): void {
    for (const times of [this.seen, this.lostAt, this.liveAt]) times.clear()
  }

  [Symbol.dispose](): void {
    this.#socket.close()
  }

  #begin(users: readonly ConnectedUser[]): void {
    const send = (message: object) => this.#socket.send(JSON.stringify(message))
    const { 'client-id': clientId, 'client-secret': clientSecret } = users[0]?.headers ?? {}
    send({ action: 'authenticate', client_id: clientId, client_secret: clientSecret, extensions: ['stream_status'] })
    send({ action: 'subscribe', topics: ['orders'] })
    for (const { username } of users) send({ action: 'subscribe_user', user_id: username })
  }

  #take({ type, user_id: user, data, health }: Record<string, unknown>): void {
    const at = performance.now()
    if (type === 'stream_status') {
      if (health === 'live') this.liveAt.set(String(user), at)
      else if (!this.lostAt.has(String(user))) this.lostAt.set(String(user), at)
    }
    if (type !== 'orders') return
    const key = `${user} ${Object(data).order_qty}`
    if (!this.seen.has(key)) this.seen.set(key, at)
  }
}
