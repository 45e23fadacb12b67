// A seeded day: orders through four brokers at once, while requests and streams go wrong, and the application ends in the middle.
import { cancelOrder } from '@trunkline/core/app/orders/cancel-order'
import { modifyOrder } from '@trunkline/core/app/orders/modify-order'
import { type OrderRequest, placeOrder } from '@trunkline/core/app/orders/place-order'
import { type Decimal, parseDecimal } from '@trunkline/core/domain/decimal'
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { filledQuantity } from '@trunkline/core/domain/order-machine'
import type { SeededChance } from '@trunkline/testkit/chance'
import { shown } from './four-checks.ts'
import type { FourWorld, Json, Through } from './four-world.ts'

/** How much goes wrong: each level has what those before it have. */
export type Level = 1 | 2 | 3 | 4

const STEPS = { usual: 45, storm: 110 }
const PAUSE_MS = { low: 5, usual: 160, storm: 90 }
const SYMBOLS = ['AAPL', 'SPY', 'MSFT'] as const
const DIALECTS = ['alpaca', 'tradier', 'tradestation', null] as const
const COMMANDS = ['orders.submit', 'orders.submit', 'orders.amend', 'orders.cancel'] as const
/** Brokers that take orders by amount. */
const BY_AMOUNT: ReadonlySet<string> = new Set(['SANDBOX', 'ALPACA'])
const READS = ['orders.list', 'orders.get', 'orders.find', 'positions.list', 'balances.list', 'accounts.list'] as const
/** What the application may answer to a request that came at the wrong moment. */
const EXPECTED = new Set(['order_not_open', 'field_invalid', 'order_not_supported', 'account_not_found'])

interface Contracts {
  readonly near: string
  readonly far: string
}

export class FourDay {
  readonly steps: string[] = []
  /** What the application answered that it never should. */
  readonly wrong: string[] = []
  readonly #world: FourWorld
  readonly #chance: SeededChance
  readonly #level: Level
  readonly #running = new Set<Promise<void>>()
  readonly #filled = new Map<string, string>()
  #names = 0
  #prices = new Map<string, number>()
  #contracts: Contracts | null = null

  constructor(world: FourWorld, chance: SeededChance, level: Level) {
    this.#world = world
    this.#chance = chance
    this.#level = level
  }

  async live(): Promise<void> {
    await this.#loadMarket()
    for (const symbol of SYMBOLS) await this.#byOperator({ symbol, direction: 'buy', kind: 'market', lifetime: 'day', quantity: '500' })
    const kind = this.#level === 4 ? 'storm' : 'usual'
    for (let step = 0; step < STEPS[kind]; step += 1) {
      await this.#step()
      await this.#world.clock.sleep(this.#chance.whole(PAUSE_MS.low, PAUSE_MS[kind]))
      await this.#watchFills()
    }
    await this.#heal()
    await Promise.all(this.#running)
  }

  /** Fills are never taken back: what was filled stays filled. */
  async #watchFills(): Promise<void> {
    for (const order of await this.#world.orders()) {
      const filled = filledQuantity(order)
      const before = this.#filled.get(order.orderId) ?? '0'
      if (Number(filled) < Number(before)) this.wrong.push(`${order.broker}: ${shown(order)} had filled ${before} before`)
      this.#filled.set(order.orderId, filled)
    }
  }

  async #heal(): Promise<void> {
    this.#note('heal')
    await this.#world.control('DELETE', '/faults')
    for (const dialect of DIALECTS) await this.#stream(dialect, { do: 'normal' })
    await this.#world.control('PUT', '/oauth', { access_ttl_s: 600 })
  }

  async #step(): Promise<void> {
    const actions: readonly (readonly [number, () => Promise<void>])[] = [
      [10, () => this.#place()],
      [4, () => this.#modify()],
      [4, () => this.#cancel()],
      [5, () => this.#venueFills()],
      [2, () => this.#venueCancels()],
      [2, () => this.#elsewhere()],
      [this.#level === 4 ? 14 : 6, () => this.#fault()],
      [this.#level >= 2 ? 3 : 0, () => this.#streamFault()],
      [this.#level >= 3 ? 1 : 0, () => this.#tokens()],
      [this.#level >= 2 ? 1 : 0, () => this.#restart()]
    ]
    let at = this.#chance.fraction() * actions.reduce((total, [weight]) => total + weight, 0)
    for (const [weight, action] of actions) {
      at -= weight
      if (at < 0) return await action()
    }
  }

  async #place(): Promise<void> {
    const through = this.#through()
    const newOrder = this.#randomTicket(through)
    const text = `place ${through.broker} ${newOrder.side} ${newOrder.quantity} ${newOrder.symbol ?? 'multi-leg'} ${newOrder.type} ${newOrder.tif} ${newOrder.limitPrice ?? newOrder.stopPrice ?? ''}`
    const place = () => placeOrder(this.#world.app, this.#world.caller, newOrder)
    this.#run(text, place)
    // Two that are alike, at once: nobody may take the one for the other.
    if (this.#chance.happens(0.1)) {
      const twin = { ...newOrder, clOrdId: this.#name() }
      this.#run(`twin of ${text}`, () => placeOrder(this.#world.app, this.#world.caller, twin))
    }
  }

  #randomTicket({ broker, account, connection }: Through): OrderRequest {
    const chance = this.#chance
    const symbol = chance.oneOf(SYMBOLS) ?? 'SPY'
    const price = this.#prices.get(symbol) ?? 100
    const kind = chance.whole(0, 11)
    const side = chance.happens(0.7) ? 'BUY' : 'SELL'
    const away = side === 'BUY' ? 0.5 : 1.5
    const base = {
      accountId: account.accountId,
      clOrdId: this.#name(),
      broker: connection.broker,
      side,
      type: 'LMT',
      tif: 'DAY',
      symbol,
      instrument: 'STK',
      quantity: decimal(String(chance.whole(2, 12))),
      notional: null,
      limitPrice: cents(price * away + chance.whole(0, 300) / 100),
      stopPrice: null,
      legs: null
    } as const
    if (kind <= 5) return { ...base, tif: chance.happens(0.2) ? 'GTC' : 'DAY' }
    if (kind <= 7) return { ...base, limitPrice: cents(price * (2 - away)) }
    const isByAmount = BY_AMOUNT.has(broker) && chance.happens(0.3)
    if (kind === 8)
      return { ...base, type: 'MKT', limitPrice: null, ...(isByAmount ? { side: 'BUY', quantity: null, notional: decimal('750') } : {}) }
    if (kind === 9) return { ...base, type: 'STP', limitPrice: null, stopPrice: cents(price * (2 - away)) }
    const contracts = this.#contracts
    if (contracts === null) return base
    const few = { quantity: decimal(String(chance.whole(1, 4))), limitPrice: decimal(chance.oneOf(['0.05', '0.10', '0.15']) ?? '0.05') }
    if (kind === 10) return { ...base, ...few, side: 'BUY_TO_OPEN', instrument: 'OPT', symbol: contracts.near }
    return { ...base, ...few, ...this.#multiLeg(contracts, chance.happens(0.4)) }
  }

  /** Nobody takes the one or gives the other. */
  #multiLeg({ near, far }: Contracts, isSold: boolean) {
    const [nearSide, farSide] = isSold ? (['SELL_TO_OPEN', 'BUY_TO_OPEN'] as const) : (['BUY_TO_OPEN', 'SELL_TO_OPEN'] as const)
    return {
      side: isSold ? 'SELL' : 'BUY',
      instrument: 'MLEG_OPT',
      symbol: null,
      limitPrice: decimal(isSold ? '40.00' : '0.02'),
      legs: [
        { symbol: near, side: nearSide, ratio: decimal('1') },
        { symbol: far, side: farSide, ratio: decimal('1') }
      ]
    } as const
  }

  async #modify(): Promise<void> {
    const order = await this.#someOrder()
    if (order === null) return
    const { limitPrice, stopPrice, quantity } = order
    const price = limitPrice ?? stopPrice
    if (price === null || quantity === null) return
    const changed = cents(changedPrice(order, Number(price), this.#chance.whole(1, 90)))
    const isForMore = this.#chance.happens(0.3)
    const request = {
      newClOrdId: this.#name(),
      broker: order.broker,
      quantity: isForMore ? decimal(String(Number(quantity) + this.#chance.whole(1, 3))) : null,
      notional: null,
      limitPrice: limitPrice === null ? null : changed,
      stopPrice: stopPrice === null ? null : changed
    }
    this.#run(`modify ${order.broker} ${shown(order)} to ${request.quantity ?? ''} ${changed}`, () =>
      modifyOrder(this.#world.app, this.#world.caller, order.accountId, order.orderId, request)
    )
  }

  async #cancel(): Promise<void> {
    const order = await this.#someOrder()
    if (order === null) return
    this.#run(`cancel ${order.broker} ${shown(order)}`, () =>
      cancelOrder(this.#world.app, this.#world.caller, order.accountId, order.orderId)
    )
  }

  async #venueFills(): Promise<void> {
    const order = await this.#someOrder()
    if (order === null || order.brokerOrderId === null) return
    const quantity = String(this.#chance.whole(1, 4))
    await this.#tried(`fill ${quantity} of ${order.broker} ${shown(order)}`, () =>
      this.#world.control('POST', `/orders/${order.brokerOrderId}/fill`, { quantity })
    )
  }

  async #venueCancels(): Promise<void> {
    const order = await this.#someOrder()
    if (order === null || order.brokerOrderId === null) return
    await this.#tried(`the venue cancels ${order.broker} ${shown(order)}`, () =>
      this.#world.control('POST', `/orders/${order.brokerOrderId}/cancel`, {})
    )
  }

  async #elsewhere(): Promise<void> {
    const symbol = this.#chance.oneOf(SYMBOLS) ?? 'SPY'
    const limit = cents((this.#prices.get(symbol) ?? 100) * 0.5 + this.#chance.whole(0, 300) / 100)
    const quantity = String(this.#chance.whole(1, 9))
    await this.#byOperator({ symbol, direction: 'buy', kind: 'limit', lifetime: 'day', quantity, limit })
  }

  async #byOperator(ticket: Json): Promise<void> {
    const { username: login, sandboxAccount: account } = this.#world
    await this.#tried(`by the operator ${JSON.stringify(ticket)}`, () =>
      this.#world.control('POST', '/orders', { login, account, ...ticket })
    )
  }

  async #fault(): Promise<void> {
    const chance = this.#chance
    const isRead = this.#level >= 2 && chance.happens(0.3)
    const on = (isRead ? chance.oneOf(READS) : chance.oneOf(COMMANDS)) ?? 'orders.submit'
    const after = chance.happens(0.5)
    const simple: Json[] = [
      { do: 'lose_answer' },
      { do: 'reset', after },
      { do: 'delay', ms: chance.whole(100, 900), after },
      { do: 'truncate' }
    ]
    const more: Json[] = [
      { do: 'status', status: chance.oneOf([500, 502, 503, 504, 408, 425]), after },
      // In one protocol it becomes a refusal, which is never sent for what was done.
      { do: 'status', status: 409 },
      { do: 'status', status: 429, retry_after: 1 },
      { do: 'html', after },
      { do: 'garbage', after: true },
      { do: 'refuse', message: 'the operator does not want it' }
    ]
    const most: Json[] = [{ do: 'hang', after }]
    // Two reads in a row that are refused a new token prove that the login has ended.
    if (!isRead) most.push({ do: 'status', status: 401 })
    if (on === 'orders.submit') {
      simple.push({ do: 'hide', ms: chance.whole(200, 1_500), answer: chance.happens(0.3) })
      more.push({ do: 'refuse_later', message: 'on second thoughts, no' })
    }
    if (on === 'orders.amend' || on === 'orders.cancel') more.push({ do: 'slow', ms: chance.whole(100, 900) })
    if (on === 'orders.list' || on === 'positions.list') most.push({ do: 'empty' })
    const wanted = chance.oneOf([...simple, ...(this.#level >= 2 ? more : []), ...(this.#level >= 3 ? most : [])])
    const fault = { on, ...wanted, login: this.#world.username, times: chance.whole(1, 2) }
    await this.#tried(`fault ${JSON.stringify(fault)}`, () => this.#world.control('POST', '/faults', fault))
    if (!chance.happens(0.5)) return
    if (on === 'orders.submit') await this.#place()
    if (on === 'orders.amend') await this.#modify()
    if (on === 'orders.cancel') await this.#cancel()
  }

  async #streamFault(): Promise<void> {
    const chance = this.#chance
    const dialect = chance.oneOf(DIALECTS) ?? null
    const how = chance.oneOf<Json>([
      { do: 'drop' },
      { do: 'mute', ms: chance.whole(200, 2_000) },
      { do: 'duplicate', times: 3 },
      { do: 'reorder', window: 2 },
      { do: 'lose', times: chance.whole(1, 3) },
      { do: 'garble' },
      { do: 'delay', ms: chance.whole(50, 500) },
      { do: 'normal' }
    ])
    await this.#stream(dialect, how)
  }

  async #stream(dialect: string | null, how: Json): Promise<void> {
    const order = { ...how, login: this.#world.username, ...(dialect === null ? {} : { dialect }) }
    await this.#tried(`stream ${JSON.stringify(order)}`, () => this.#world.control('POST', '/streams', order))
  }

  async #tokens(): Promise<void> {
    const isShort = this.#chance.happens(0.5)
    if (isShort) {
      await this.#tried('tokens end after six seconds', () => this.#world.control('PUT', '/oauth', { access_ttl_s: 6 }))
      return
    }
    await this.#tried('a refresh is lost', () => this.#world.control('POST', '/faults', { on: 'token', do: 'lose_answer', times: 1 }))
  }

  async #restart(): Promise<void> {
    const how = this.#chance.happens(0.6) ? 'crash' : 'stop'
    await this.#tried(`the application restarts: ${how}`, () => this.#world.restart(how))
  }

  #run(text: string, work: () => Promise<Order>): void {
    const number = this.#note(text)
    const done = work().then(
      order => void this.steps.push(`  → ${number} ${shown(order)}`),
      (cause: unknown) => {
        this.steps.push(`  → ${number} ${String(cause)}`)
        const isGone = cause instanceof Error && cause.message === 'the process is gone'
        if (!isGone && !(cause instanceof ServiceError && EXPECTED.has(cause.code))) this.wrong.push(`${text}: ${String(cause)}`)
      }
    )
    this.#running.add(done)
    void done.finally(() => this.#running.delete(done))
  }

  /** Of the sandbox's side, which may say that it is too late for that. */
  async #tried(text: string, work: () => Promise<unknown>): Promise<void> {
    const number = this.#note(text)
    await work().catch((cause: unknown) => this.steps.push(`  → ${number} ${String(cause)}`))
  }

  #note(text: string): number {
    const number = this.steps.filter(step => !step.startsWith(' ')).length + 1
    this.steps.push(`${number} ${new Date().toISOString().slice(17, 23)} ${text}`)
    return number
  }

  /** Ours or another's, through any of the brokers; ours more often. */
  async #someOrder(): Promise<Order | null> {
    const open = (await this.#world.orders()).filter(({ status }) => isOpen(status))
    const own = open.filter(({ submission }) => submission.state !== 'external')
    return this.#chance.oneOf(own.length > 0 && this.#chance.happens(0.85) ? own : open) ?? null
  }

  #through(): Through {
    const found = this.#chance.oneOf(this.#world.through)
    if (found === undefined) throw new Error('there is no connection')
    return found
  }

  #name() {
    this.#names += 1
    return parseClOrdId(`day-${this.#names}`)
  }

  async #loadMarket(): Promise<void> {
    const { access_token: token } = await this.#world.control('POST', `/logins/${this.#world.username}/token`, {})
    const items = async (path: string): Promise<Json> => {
      const answer = await fetch(`${this.#world.sandbox.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
      return ((await answer.json()) as Json).items
    }
    for (const { symbol, bid } of await items(`/quotes?symbols=${SYMBOLS.join()}`)) this.#prices.set(symbol, Number(bid))
    const expirations = await items('/expirations?underlying=SPY')
    const rows = await items(`/chain?underlying=SPY&expiration=${expirations[2].expiration}`)
    const calls = rows.filter(({ right }: Json) => right === 'call')
    const at = Math.floor(calls.length / 2)
    this.#contracts = { near: calls[at].s, far: calls[at + 1].s }
  }
}

/**
 * For multi-leg orders and options a price that never trades, in whole ticks; what is sold in one protocol is bought at a negative price.
 */
function changedPrice({ instrument }: Order, price: number, cent: number): number {
  if (instrument === 'STK') return price + cent / 100
  if (instrument === 'OPT') return 0.2
  return price > 1 ? 45 : price < -1 ? -45 : 0.05
}

function cents(price: number): Decimal {
  return decimal(price.toFixed(2))
}

function decimal(text: string): Decimal {
  return parseDecimal(text, 'decimal')
}
