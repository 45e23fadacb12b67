// A user's records derived from updates, and faults of the updates themselves.
import { createHash } from 'node:crypto'
import { compare, parseDecimal } from '@trunkline/core/domain/decimal'
import { TRANSITIONS as ARROWS } from '@trunkline/core/domain/order-machine'
import type { Json } from './sandbox-process.ts'

/** An update as the stream and the log show it. */
export type Update = Json

const FAULTS_MAX = 50
/** From each status to those that may follow it. A final one is never taken back: a rejection that was false is a fault. */
const TRANSITIONS: ReadonlyMap<unknown, readonly string[]> = new Map(Object.entries(ARROWS))

/** Applies one user's updates in the order in which they come. */
export class Replay {
  readonly userId: string
  readonly orders = new Map<string, Json>()
  /** By account number and symbol; a closed position goes. */
  readonly positions = new Map<string, Json>()
  /** By account number and currency. */
  readonly balances = new Map<string, Json>()
  /** The first violations. */
  readonly faults: string[] = []
  #seq = 0
  #digest = ''

  constructor(userId: string) {
    this.userId = userId
  }

  /** The last update's. */
  get seq(): number {
    return this.#seq
  }

  /** A digest of every update so far, byte by byte: two replays with equal digests received the same. */
  get digest(): string {
    return this.#digest
  }

  apply(update: Update): void {
    const { type, seq, event_id: eventId, user_id: userId, data } = update
    if (seq !== this.#seq + 1) this.fault(`update ${seq} came after ${this.#seq}`)
    if (userId !== this.userId) this.fault(`update ${seq} is of ${userId}`)
    if (typeof eventId !== 'string') this.fault(`update ${seq} has no event_id`)
    this.#seq = seq
    this.#digest = createHash('sha256').update(this.#digest).update(JSON.stringify(update)).digest('base64')
    if (type === 'orders') this.#order(seq, data)
    else if (type === 'positions') for (const position of data) this.#position(position)
    else if (type === 'balances') this.balances.set(`${data.account_number} ${data.currency_code}`, data)
    else this.fault(`update ${seq} is of the unknown type ${type}`)
  }

  fault(what: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push(`${this.userId}: ${what}`)
  }

  #order(seq: number, order: Json): void {
    const before = this.orders.get(order.order_id)
    this.orders.set(order.order_id, order)
    if (before === undefined) return
    const [from, to] = [before.normalized_status, order.normalized_status]
    if (from !== to && !TRANSITIONS.get(from)?.includes(to))
      this.fault(`update ${seq} takes order ${order.cl_order_id} from ${from} to ${to}`)
    if (order.revision !== undefined && order.revision <= before.revision)
      this.fault(`update ${seq} takes order ${order.cl_order_id} from revision ${before.revision} to ${order.revision}`)
    if (compare(parseDecimal(order.filled_qty, 'filled_qty'), parseDecimal(before.filled_qty, 'filled_qty')) < 0)
      this.fault(`update ${seq} takes back executions of order ${order.cl_order_id}: ${before.filled_qty} became ${order.filled_qty}`)
  }

  #position(position: Json): void {
    const key = `${position.account_number} ${position.symbol}`
    if (/^0(\.0+)?$/.test(position.quantity)) this.positions.delete(key)
    else this.positions.set(key, position)
  }
}
