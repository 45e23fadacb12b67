import { setTimeout as pause } from 'node:timers/promises'
import { Agent } from 'undici'
import type { ConnectedUser } from '../../harness/stage.ts'

/** A request, as its client saw it. */
export interface Asked {
  readonly user: number
  /** The first node that was asked. */
  readonly node: number
  readonly dueAt: number
  readonly waitedMs: number
  /** The status with the code of the error, or how the connection broke; empty: it succeeded. */
  readonly failure: string
}

interface Attempt {
  readonly failure: string
  /** The node takes no connections: another one may be tried, as a balancer would. */
  readonly isClosed: boolean
}

/** Nothing arrives later, and no client waits so long. */
const WAIT_MS = 30_000

/**
 * Orders and reads of all users, in turn and at a steady rate, through each node in turn. Connections are kept alive. A node that takes no
 * connections is left out until it is back, as a balancer would; any other failure is its client's.
 */
export class Load {
  readonly #urls: () => readonly (string | null)[]
  readonly #users: readonly ConnectedUser[]
  readonly #agent = new Agent({ connections: 64, pipelining: 1, headersTimeout: WAIT_MS, bodyTimeout: WAIT_MS })
  readonly #run = crypto.randomUUID().slice(0, 8)
  readonly #underWay = new Set<Promise<void>>()
  readonly #asked: Asked[] = []
  #isOver = false
  #running: Promise<void> | null = null

  /** @param urls of the nodes; null: the balancer knows that it is gone */
  constructor(urls: () => readonly (string | null)[], users: readonly ConnectedUser[]) {
    this.#urls = urls
    this.#users = users
  }

  start(perSecond: number): void {
    this.#running = this.#askAll(perSecond)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
    await Promise.all(this.#underWay)
    await this.#agent.destroy()
  }

  /** Resolves when every request that was due before now has ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#underWay])
  }

  /** Requests that were under way at some time in between. */
  between(from: number, to: number): readonly Asked[] {
    return this.#asked.filter(({ dueAt, waitedMs }) => dueAt + waitedMs >= from && dueAt <= to)
  }

  forget(): void {
    this.#asked.length = 0
  }

  async #askAll(perSecond: number): Promise<void> {
    const started = performance.now()
    for (let index = 0; !this.#isOver; index += 1) {
      const dueAt = started + (index * 1_000) / perSecond
      const wait = dueAt - performance.now()
      if (wait > 1) await pause(wait)
      const asked: Promise<void> = this.#ask(index, dueAt).finally(() => this.#underWay.delete(asked))
      this.#underWay.add(asked)
    }
  }

  async #ask(index: number, dueAt: number): Promise<void> {
    const count = this.#urls().length
    const user = index % this.#users.length
    // Users follow each other in the same way, so the node moves on once more with each round of them.
    const first = (index + Math.floor(index / this.#users.length)) % count
    const order = Array.from({ length: count }, (_, offset) => (first + offset) % count)
    const node = order.find(one => this.#urls()[one] !== null) ?? first
    let failure = 'no node'
    for (const one of [node, ...order.filter(other => other !== node)]) {
      const url = this.#urls()[one]
      if (url === undefined || url === null) continue
      const attempt = await this.#attempt(url, user, index)
      failure = attempt.failure
      if (!attempt.isClosed) break
    }
    this.#asked.push({ user, node, dueAt, waitedMs: performance.now() - dueAt, failure })
  }

  /** Every third request is an order, the others read. */
  async #attempt(origin: string, index: number, number: number): Promise<Attempt> {
    const user = this.#users[index]
    if (user === undefined) throw new Error('no such user')
    const order = {
      ...{ account_id: user.accountId, cl_order_id: `${this.#run}-${number}`, broker: 'SANDBOX', side: 'BUY' },
      ...{ order_type: 'MKT', order_tif: 'DAY', symbol: 'AAPL', order_qty: '1' }
    }
    const headers = { ...user.headers, 'content-type': 'application/json' }
    try {
      const { statusCode, body } = await this.#agent.request(
        number % 3 !== 0
          ? { origin, path: '/orders?limit=1', method: 'GET', headers: user.headers }
          : { origin, path: '/orders', method: 'POST', headers, body: JSON.stringify(order) }
      )
      const answer = Object(await body.json())
      const isDone = statusCode < 300 && answer.normalized_status !== 'rejected'
      return { failure: isDone ? '' : `${statusCode} ${answer.code ?? answer.normalized_status}`, isClosed: false }
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
      return { failure: code, isClosed: code === 'ECONNREFUSED' }
    }
  }
}
