import type { SandboxShape } from './requests.ts'

/** The first updates of an order are executions of one share each; later ones change its price, as if the operator amended it. */
const FILLS_MAX = 4

interface Fill {
  readonly id: string
  readonly at: string
}

interface WorkingOrder {
  readonly id: string
  readonly account: string
  readonly symbol: string
  readonly received: string
  readonly fills: Fill[]
  changed: string
  moves: number
  note: string | null
}

const SYMBOLS = ['AAPL', 'MSFT', 'SPY', 'QQQ', 'NVDA', 'TSLA', 'AMZN', 'META']

/** Accounts and working orders of the test sandbox, in the format of the sandbox's API. */
export class SandboxState {
  readonly #shape: SandboxShape
  readonly #now: () => string
  readonly #orders = new Map<string, WorkingOrder[]>()

  /** @param now as the sandbox writes times */
  constructor(shape: SandboxShape, now: () => string) {
    this.#shape = shape
    this.#now = now
  }

  accountsOf(login: number): readonly string[] {
    return Array.from({ length: this.#shape.accountsOfLogin }, (_, index) => `acc_${login}_${index}`)
  }

  account(id: string): object {
    return { id, number: `H-${id.slice(4)}`, name: null, kind: 'margin', currency: 'USD', opened: '2026-01-05T14:30:00.000000Z' }
  }

  balance(account: string): object {
    const [amount, none] = ['250000.00', '0.00']
    return {
      ...{ account, currency: 'USD', cash: amount, settled_cash: amount, equity: amount, market_value: none, long_value: none },
      ...{ short_value: none, buying_power: '500000.00', reg_t_buying_power: '500000.00', initial_margin: none },
      ...{ maintenance_margin: none, reserved: none, margin_call: false, realized: none, unrealized: none, today: none, fees: none }
    }
  }

  positions(account: string): readonly object[] {
    return Array.from({ length: this.#shape.positionsOfAccount }, (_, index) => ({
      ...{ account, symbol: SYMBOLS[index % SYMBOLS.length], class: 'share', currency: 'USD', quantity: '100', average_price: '101.25' },
      ...{ last_price: '102.50', previous_close: '102.00', market_value: '10250.00', cost: '10125.00', unrealized: '125.00' },
      ...{
        realized: '0.00',
        today: '50.00',
        total: '125.00',
        opened: '2026-02-02T14:30:00.000000Z',
        changed: '2026-02-02T14:30:00.000000Z'
      }
    }))
  }

  orders(account: string): readonly string[] {
    return this.#of(account).map(orderText)
  }

  order(id: string): string | null {
    const order = this.#of(accountOf(id)).find(known => known.id === id)
    return order === undefined ? null : orderText(order)
  }

  /** Changes the login's order at index `turn` in rotation, and returns the stream's messages of it without their numbers. */
  move(login: number, step: number, note: string): readonly EventText[] {
    const { accountsOfLogin, ordersOfAccount } = this.#shape
    const account = `acc_${login}_${step % accountsOfLogin}`
    const order = this.#of(account)[Math.floor(step / accountsOfLogin) % ordersOfAccount]
    if (order === undefined) throw new Error(`${account} has no orders to move`)
    const at = this.#now()
    order.changed = at
    order.note = note
    if (order.fills.length < FILLS_MAX) {
      const fill = { id: `${order.id}_${order.fills.length}`, at }
      order.fills.push(fill)
      const { id, symbol } = order
      const about = `"order_id":"${id}","client_order_id":"${id}c","account":"${account}","symbol":"${symbol}","direction":"buy"`
      return [
        { ev: 'fill', rest: `"fill":${fillText(fill)},${about}`, at },
        { ev: 'order', rest: `"order":${orderText(order)}`, at }
      ]
    }
    order.moves += 1
    return [{ ev: 'order', rest: `"order":${orderText(order)}`, at }]
  }

  #of(account: string): WorkingOrder[] {
    const known = this.#orders.get(account)
    if (known !== undefined) return known
    const at = this.#now()
    const made = Array.from({ length: this.#shape.ordersOfAccount }, (_, index): WorkingOrder => {
      const symbol = SYMBOLS[index % SYMBOLS.length] ?? 'SPY'
      return { id: `ord_${account.slice(4)}_${index}`, account, symbol, received: at, fills: [], changed: at, moves: 0, note: null }
    })
    this.#orders.set(account, made)
    return made
  }
}

/** A message of the stream: `{"ev":…,"seq":…,…}`. */
export interface EventText {
  readonly ev: 'fill' | 'order'
  readonly rest: string
  readonly at: string
}

function accountOf(order: string): string {
  return `acc_${order.slice(4, order.lastIndexOf('_'))}`
}

function fillText({ id, at }: Fill): string {
  return `{"id":"${id}","quantity":"1","price":"100.00","fee":"0","at":"${at}","venue":"STREET"}`
}

/** The note becomes the service's `broker_message`: the only text of an order that is passed through unchanged. */
function orderText({ id, account, symbol, received, fills, changed, moves, note }: WorkingOrder): string {
  const filled = fills.length
  const price = (100 + (moves % 1_000) / 100).toFixed(2)
  const reason = note === null ? 'null' : `{"code":"operator","message":"${note}"}`
  return (
    `{"id":"${id}","client_order_id":"${id}c","account":"${account}","symbol":"${symbol}","class":"share","direction":"buy","kind":"limit",` +
    `"lifetime":"gtc","quantity":"100000","notional":null,"limit":"${price}","stop":null,"state":"${filled === 0 ? 'open' : 'partial'}",` +
    `"reason":${reason},"triggered":false,"filled":"${filled}","carried":"0","remaining":"${100_000 - filled}",` +
    `"average_fill_price":${filled === 0 ? 'null' : '"100.00"'},"fees":"0","fills":[${fills.map(fillText).join(',')}],"amends":null,` +
    `"amended_by":null,"received":"${received}","changed":"${changed}","last_fill":${filled === 0 ? 'null' : `"${fills.at(-1)?.at}"`}}`
  )
}
