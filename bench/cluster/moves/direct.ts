import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectedUser } from '../../harness/stage.ts'
import type { Follower } from './follower.ts'

interface Place {
  readonly token: string
  readonly account: string
}

interface Placed {
  readonly user: number
  readonly key: string
  readonly at: number
}

/** Quantities tell an order of a user from others; they come again after minutes. */
const QUANTITIES = { first: 2, last: 301 }

/** Orders that users place at the broker itself, in turn and at a steady rate: only a mirror finds them. */
export class DirectOrders {
  readonly #sandboxUrl: string
  readonly #users: readonly ConnectedUser[]
  readonly #places: readonly Place[]
  readonly #placed: Placed[] = []
  #isOver = false
  #running: Promise<void> | null = null

  private constructor(sandboxUrl: string, users: readonly ConnectedUser[], places: readonly Place[]) {
    this.#sandboxUrl = sandboxUrl
    this.#users = users
    this.#places = places
  }

  static async open(
    urls: { readonly sandboxUrl: string; readonly controlUrl: string },
    users: readonly ConnectedUser[]
  ): Promise<DirectOrders> {
    const places: Place[] = []
    for (const { username } of users) {
      const made = await fetch(`${urls.controlUrl}/logins/${username}/token`, { method: 'POST', body: '{}', headers: JSON_TYPE })
      const { access_token: token } = Object(await made.json())
      const accounts = await fetch(`${urls.sandboxUrl}/api/v1/accounts`, { headers: { authorization: `Bearer ${token}` } })
      places.push({ token: String(token), account: String(Object(await accounts.json()).items[0].id) })
    }
    return new DirectOrders(urls.sandboxUrl, users, places)
  }

  start(perSecond: number): void {
    this.#running = this.#run(perSecond)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** How long the orders of some users, placed in between, took to reach the session; infinite: they have not. */
  delays(follower: Follower, users: ReadonlySet<number>, from: number, to: number): readonly number[] {
    return this.#placed
      .filter(({ user, at }) => users.has(user) && at >= from && at <= to)
      .map(({ key, at }) => (follower.seen.get(key) ?? Number.POSITIVE_INFINITY) - at)
  }

  /** Quantities may come again. */
  forget(): void {
    this.#placed.length = 0
  }

  async #run(perSecond: number): Promise<void> {
    for (let index = 0; !this.#isOver; index += 1) {
      const user = index % this.#users.length
      const quantity = QUANTITIES.first + (Math.floor(index / this.#users.length) % (QUANTITIES.last - QUANTITIES.first))
      await this.#place(user, quantity)
      await pause(1_000 / perSecond)
    }
  }

  async #place(user: number, quantity: number): Promise<void> {
    const { token, account } = this.#places[user] ?? { token: '', account: '' }
    const order = { account, symbol: 'MSFT', direction: 'buy', kind: 'market', lifetime: 'day', quantity: String(quantity) }
    const at = performance.now()
    const answer = await fetch(`${this.#sandboxUrl}/api/v1/orders`, {
      ...{ method: 'POST', headers: { ...JSON_TYPE, authorization: `Bearer ${token}` } },
      body: JSON.stringify({ ...order, client_order_id: crypto.randomUUID() })
    })
    if (answer.status >= 300) throw new Error(`the sandbox answered an order with ${answer.status}: ${await answer.text()}`)
    await answer.arrayBuffer()
    this.#placed.push({ user, key: `${this.#users[user]?.username} ${quantity}`, at })
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }
