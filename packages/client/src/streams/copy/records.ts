import type { Balance, Order, Position } from '../../generated/openapi.ts'
import type { Update } from '../broker/items.ts'

/** What a copy holds, and what it is stored as. */
export interface Snapshot {
  readonly orders: readonly Order[]
  readonly positions: readonly Position[]
  readonly balances: readonly Balance[]
}

/** Records of a user by their keys. */
export class Records {
  readonly orders = new Map<string, Order>()
  readonly positions = new Map<string, Position>()
  readonly balances = new Map<string, Balance>()

  constructor({ orders, positions, balances }: Snapshot = { orders: [], positions: [], balances: [] }) {
    for (const order of orders) this.putOrder(order)
    for (const position of positions) this.#putPosition(position)
    for (const balance of balances) this.#putBalance(balance)
  }

  apply(update: Update): void {
    if (update.type === 'orders') this.putOrder(update.data)
    else if (update.type === 'balances') this.#putBalance(update.data)
    else if (update.type === 'positions') for (const position of update.data) this.#putPosition(position)
  }

  /** Of two copies of an order, the one with the higher revision is newer. Also for answers to your own requests. */
  putOrder(order: Order): void {
    const known = this.orders.get(order.order_id)
    if (known === undefined || known.revision <= order.revision) this.orders.set(order.order_id, order)
  }

  /** Removes what belongs to a connection that was deleted; no update does. */
  forget(connectionId: string): void {
    for (const records of [this.orders, this.positions, this.balances])
      for (const [key, record] of records) if (record.connection_id === connectionId) records.delete(key)
  }

  toSnapshot(): Snapshot {
    return { orders: [...this.orders.values()], positions: [...this.positions.values()], balances: [...this.balances.values()] }
  }

  #putPosition(position: Position): void {
    const key = positionKey(position)
    if (/^-?0(\.0+)?$/.test(position.quantity)) this.positions.delete(key)
    else this.positions.set(key, position)
  }

  #putBalance(balance: Balance): void {
    this.balances.set(balanceKey(balance), balance)
  }
}

export function positionKey({ account_id, symbol, instrument, broker_position_id }: Position): string {
  return JSON.stringify([account_id, symbol, instrument, broker_position_id])
}

export function balanceKey({ account_id, currency_code }: Balance): string {
  return JSON.stringify([account_id, currency_code])
}

/** SHA-256, in hexadecimal, over all records but for when the broker last confirmed them: equal for equal copies, in whatever order. */
export async function digestOf(snapshot: Snapshot): Promise<string> {
  const { orders, positions, balances } = new Records(snapshot)
  const lines = [orders, positions, balances].map(records => [...records.entries()].sort(byKey).map(([, record]) => canonical(record)))
  const bytes = new TextEncoder().encode(JSON.stringify(lines))
  const hash = await crypto.subtle.digest('SHA-256', bytes)
  return [...new Uint8Array(hash)].map(byte => byte.toString(16).padStart(2, '0')).join('')
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

/** A record as text, its fields in the order of their names. */
function canonical(record: object): string {
  const { system_time: _, ...fields } = { system_time: null, ...record }
  return JSON.stringify(fields, (_key, value: unknown) => (isRecord(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value))
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
