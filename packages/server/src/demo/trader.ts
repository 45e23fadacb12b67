import { setTimeout as pause } from 'node:timers/promises'
import { type Client, listOf, Refused, recordOf, textOf } from './client.ts'
import type { Stage } from './stage.ts'
import { table } from './table.ts'

type Json = Readonly<Record<string, unknown>>

const FINAL = new Set(['filled', 'cancelled', 'rejected', 'expired', 'replaced'])
const PATIENCE_MS = 30_000
const LOOK_MS = 50

/** Places the demo's orders one after another and records the result of each. */
export class Trader {
  readonly #client: Client
  readonly #stage: Stage
  readonly #accountId: string
  readonly #recorded: { readonly what: string; readonly order: Json }[] = []
  #count = 0

  constructor(client: Client, stage: Stage, accountId: string) {
    this.#client = client
    this.#stage = stage
    this.#accountId = accountId
  }

  async trade(): Promise<void> {
    const { symbol, broker } = this.#stage
    const bought = await this.#placeOrder('market buy', { side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol, order_qty: '10' })
    const price = textOf(bought, 'average_fill_price')
    if (price === '') throw new Error(`the market buy is ${textOf(bought, 'normalized_status')}: ${textOf(bought, 'broker_message')}`)
    const limit = { side: 'BUY', order_type: 'LMT', symbol }
    await this.#placeOrder('limit buy at the market', { ...limit, order_tif: 'DAY', order_qty: '5', order_limit_price: moved(price, 101n) })
    await this.#takeMore(price)
    const resting = { ...limit, order_tif: 'GTC', order_qty: '20', order_limit_price: moved(price, 95n) }
    let working = await this.#placeOrder('limit buy below the market', resting, ['working'])
    if (broker.canModify) {
      working = await this.#client.patch(this.#path(working), {
        new_cl_order_id: this.#clOrderId(),
        broker: broker.id,
        order_limit_price: moved(price, 96n)
      })
      working = await this.#settled(working, ['working'])
      this.#record('… modified', working)
    }
    this.#record('… cancelled', await this.#cancelled(working))
    const tooMuch = { side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol, order_qty: '1000000' }
    await this.#placeOrder('far more than the account can pay', tooMuch)
    await this.#placeOrder('market sell', { side: 'SELL', order_type: 'MKT', order_tif: 'DAY', symbol, order_qty: '4' })
    await this.#repeat()
  }

  orders(): readonly Json[] {
    return this.#recorded.map(({ order }) => order)
  }

  report(): string {
    const rows = this.#recorded.map(({ what, order }) => {
      const fills = listOf(order, 'fills')
      const price =
        fills.length === 0 ? textOf(order, 'order_limit_price') || '–' : `${textOf(order, 'average_fill_price')} in ${fills.length}`
      return [
        what,
        `${textOf(order, 'side')} ${textOf(order, 'order_qty')} ${textOf(order, 'symbol')}`,
        textOf(order, 'normalized_status'),
        price,
        textOf(order, 'broker_message')
      ]
    })
    return table([['what', 'order', 'status', 'price', 'broker says'], ...rows])
  }

  /** Orders more than is on offer: as IOC if the broker supports it, else the rest is cancelled explicitly. */
  async #takeMore(price: string): Promise<void> {
    const { thin, broker } = this.#stage
    const isImmediate = broker.timesInForce.includes('IOC')
    const order = {
      ...{ side: 'BUY', order_type: 'LMT', order_tif: isImmediate ? 'IOC' : 'DAY', symbol: thin.symbol, order_qty: thin.quantity },
      order_limit_price: moved(await this.#priceOf(thin.symbol, price), 101n)
    }
    const placed = await this.#placeOrder('more than is on offer: a partial fill', order, isImmediate ? [] : ['partially_filled'])
    if (!FINAL.has(textOf(placed, 'normalized_status'))) this.#record('… the rest cancelled', await this.#cancelled(placed))
  }

  /** Sends a client order id twice. The second order must be refused, and the error must name the first. */
  async #repeat(): Promise<void> {
    const first = this.#recorded[0]?.order ?? {}
    const body = { side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol: this.#stage.symbol, order_qty: '10' }
    try {
      await this.#client.post('/orders', { ...body, ...this.#at(), cl_order_id: textOf(first, 'cl_order_id') })
      throw new Error('a repeated cl_order_id was accepted')
    } catch (cause) {
      if (!(cause instanceof Refused) || cause.status !== 409) throw cause
      this.#stage.print(`   Repeating the first cl_order_id is refused: ${cause.status} ${cause.message}`)
    }
  }

  async #placeOrder(what: string, order: Json, until: readonly string[] = []): Promise<Json> {
    const placed = await this.#client.post('/orders', { ...order, ...this.#at(), cl_order_id: this.#clOrderId() })
    const settled = await this.#settled(placed, until)
    this.#record(what, settled)
    return settled
  }

  async #cancelled(order: Json): Promise<Json> {
    return await this.#settled(await this.#client.delete(this.#path(order)))
  }

  /** Reads the order until it is final, or one of `until`. */
  async #settled(order: Json, until: readonly string[] = []): Promise<Json> {
    const deadline = performance.now() + PATIENCE_MS
    let present = order
    for (;;) {
      const status = textOf(present, 'normalized_status')
      if (FINAL.has(status) || until.includes(status)) return present
      if (performance.now() > deadline) throw new Error(`order ${textOf(order, 'order_id')} is still ${status}`)
      await pause(LOOK_MS)
      const rows = await this.#client.list(`/orders?account_id=${this.#accountId}&limit=50`)
      present = rows.find(row => textOf(row, 'order_id') === textOf(order, 'order_id')) ?? present
    }
  }

  async #priceOf(symbol: string, fallback: string): Promise<string> {
    if (symbol === this.#stage.symbol) return fallback
    const one = { side: 'BUY', order_type: 'MKT', order_tif: 'DAY', symbol, order_qty: '1' }
    const probe = await this.#placeOrder('one share, to learn the price', one)
    return textOf(probe, 'average_fill_price') || fallback
  }

  #at(): Json {
    return { account_id: this.#accountId, broker: this.#stage.broker.id }
  }

  #path(order: Json): string {
    return `/accounts/${this.#accountId}/orders/${textOf(order, 'order_id')}`
  }

  #clOrderId(): string {
    this.#count += 1
    return `demo-${this.#count}`
  }

  #record(what: string, order: Json): void {
    this.#recorded.push({ what, order: recordOf(order) })
  }
}

/** A price times a percentage, truncated to cents. Integer arithmetic only. */
function moved(price: string, percent: bigint): string {
  const [whole = '0', fraction = ''] = price.split('.')
  const cents = (BigInt(whole + fraction.slice(0, 2).padEnd(2, '0')) * percent) / 100n
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
