// A seeded load: orders, changes and cancels, by users and at the sandbox itself, during faults.
import { setTimeout as delay } from 'node:timers/promises'
import type { Chance } from './chance.ts'
import type { CrashUser } from './platform.ts'
import type { Json, SandboxProcess } from './sandbox-process.ts'

/** Requests and answers: no order may exist that was not requested, and no answered one may be missing. */
export class Ledger {
  /** By `user cl_order_id`; null without an answered order. */
  readonly requested = new Map<string, Json>()
  /** Sandbox ids of the orders that were placed at the sandbox itself. */
  readonly elsewhere = new Set<string>()
  readonly answers = new Map<string, number>()
  readonly #resting = new Map<string, Resting>()

  /** Resting orders of an account, over all loads. */
  resting(account: string): Resting {
    const known = this.#resting.get(account) ?? { ours: [], elsewhere: [] }
    this.#resting.set(account, known)
    return known
  }

  count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
  }
}

/** Orders that were resting when last seen, the oldest first. */
interface Resting {
  /** Order ids. */
  readonly ours: string[]
  /** Sandbox ids. */
  readonly elsewhere: string[]
}

/** Above this number in an account, one is cancelled before another is placed. */
const RESTING_MAX = 5

export interface LoadOptions {
  readonly users: readonly CrashUser[]
  readonly sandbox: SandboxProcess
  readonly ledger: Ledger
  readonly chance: Chance
  /** A prefix of order names; no two loads use the same. */
  readonly name: string
  /** Operations of each account; unlimited until the signal, if there is one. */
  readonly operations: number
  /** Ends the load: no operation is begun. */
  readonly signal?: AbortSignal
  /** The average pause between two operations of an account, in milliseconds. */
  readonly pauseMs: number
  /** Symbols and prices at which a buy order rests. */
  readonly resting: ReadonlyMap<string, string>
}

/** Trades on every account of every user at once. Resolves when every operation was answered or failed. */
export async function trade(options: LoadOptions): Promise<void> {
  const traders = options.users.flatMap(user => user.login.accounts.map((_, index) => new AccountTrader(options, user, index)))
  await Promise.all(traders.map(trader => trader.run()))
}

/** One account, one operation after the other. */
class AccountTrader {
  readonly #options: LoadOptions
  readonly #user: CrashUser
  readonly #index: number
  readonly #chance: Chance
  readonly #resting: Resting

  constructor(options: LoadOptions, user: CrashUser, index: number) {
    this.#options = options
    this.#user = user
    this.#index = index
    this.#resting = options.ledger.resting(`${user.userId} ${index}`)
    // A separate random stream, so that choices do not depend on how fast other accounts are answered.
    this.#chance = options.chance.apart()
  }

  async run(): Promise<void> {
    const { operations, pauseMs, signal } = this.#options
    for (let number = 0; number < operations; number += 1) {
      await delay(this.#chance.fraction() * 2 * pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
      if (signal?.aborted === true) return
      await this.#operation(number)
    }
  }

  async #operation(number: number): Promise<void> {
    const name = `${this.#options.name}-${this.#index}-${number}`
    const choice = this.#chance.fraction()
    const chosen = this.#chance.whole(0, 1_000)
    if (choice < 0.3) return this.#placeOrder(name, { order_qty: String(1 + (chosen % 7)), side: chosen % 3 === 0 ? 'SELL' : 'BUY' })
    if (choice < 0.55) return this.#rest(name, 2 + (chosen % 9))
    if (choice < 0.7) return this.#modify(name, 12 + (chosen % 9))
    if (choice < 0.85) return this.#cancel()
    if (choice < 0.95 && this.#resting.elsewhere.length < RESTING_MAX) return this.#placeAtSandbox(chosen % 2 === 0)
    return this.#cancelElsewhere()
  }

  async #placeOrder(name: string, ticket: Readonly<Record<string, unknown>>): Promise<void> {
    const { symbol } = this.#symbol()
    await this.#request(name, () => this.#user.placeFor(this.#index, name, { symbol, ...ticket }))
  }

  async #rest(name: string, quantity: number): Promise<void> {
    if (this.#resting.ours.length >= RESTING_MAX) return this.#cancel()
    const { symbol, price } = this.#symbol()
    const ticket = { symbol, order_type: 'LMT', order_tif: 'GTC', order_limit_price: price, order_qty: String(quantity) }
    const order = await this.#request(name, () => this.#user.placeFor(this.#index, name, ticket))
    if (order !== null) this.#resting.ours.push(order.order_id)
  }

  async #modify(name: string, quantity: number): Promise<void> {
    const orderId = this.#resting.ours.shift()
    if (orderId === undefined) return this.#rest(name, quantity)
    const order = await this.#request(name, () => this.#user.modifyIn(this.#index, orderId, name, { order_qty: String(quantity) }))
    if (order !== null) this.#resting.ours.push(order.order_id)
  }

  async #cancel(): Promise<void> {
    const orderId = this.#resting.ours.shift()
    if (orderId === undefined) return
    const answer = await this.#user.cancelIn(this.#index, orderId).catch(() => null)
    this.#options.ledger.count(`cancel ${answer?.status ?? 'failed'}`)
  }

  async #placeAtSandbox(isResting: boolean): Promise<void> {
    const { symbol, price } = this.#symbol()
    const kind = isResting ? { kind: 'limit', limit: price, lifetime: 'gtc' } : { kind: 'market', lifetime: 'day' }
    const account = this.#user.login.accounts[this.#index]?.id
    const ticket = { account, symbol, direction: 'buy', quantity: '1', ...kind }
    const { order } = await this.#options.sandbox.control('POST', '/orders', { login: this.#user.login.username, ...ticket })
    this.#options.ledger.elsewhere.add(order.id)
    if (isResting) this.#resting.elsewhere.push(order.id)
  }

  async #cancelElsewhere(): Promise<void> {
    const id = this.#resting.elsewhere.shift()
    if (id !== undefined) await this.#options.sandbox.control('POST', `/orders/${id}/cancel`)
  }

  /** Returns the order, if there is one. */
  async #request(name: string, request: () => Promise<{ readonly status: number; readonly body: Json }>): Promise<Json> {
    const { requested } = this.#options.ledger
    const key = `${this.#user.userId} ${name}`
    requested.set(key, null)
    const answer = await request().catch(() => null)
    this.#options.ledger.count(`order ${answer?.status ?? 'failed'}`)
    if (answer === null || answer.status > 201) return null
    requested.set(key, answer.body)
    return answer.body
  }

  #symbol(): { readonly symbol: string; readonly price: string } {
    const [symbol, price] = this.#chance.oneOf([...this.#options.resting]) ?? ['SPY', '1.00']
    return { symbol, price }
  }
}
