// What a platform knows of one user: everything it took a snapshot of or was sent, and nothing else.
import assert from 'node:assert/strict'
import type { Update } from '../../src/wire/update.ts'

/** Some record as the wire has it. */
export type WireRecord = Readonly<Record<string, unknown>>

/** The user's records as REST gives them, in the order of their keys. */
export interface Snapshot {
  readonly orders: readonly WireRecord[]
  readonly positions: readonly WireRecord[]
  readonly balances: readonly WireRecord[]
}

export class UserRecord {
  /** The text of every update, by its number, since the last snapshot. */
  readonly received = new Map<number, string>()
  /** Everything up to here is part of what is known; null before anything is. */
  position: number | null = null
  /** Where what was received begins. */
  since = 0
  readonly #orders = new Map<string, WireRecord>()
  readonly #positions = new Map<string, WireRecord>()
  readonly #balances = new Map<string, WireRecord>()

  /** Forgets everything; what comes after `position` is sent from here on. */
  begin(position: number): void {
    this.position = position
    this.since = position
    this.received.clear()
    this.#orders.clear()
    this.#positions.clear()
    this.#balances.clear()
  }

  /** A snapshot that is at least as new as everything received until now. */
  adopt({ orders, positions, balances }: Snapshot): void {
    for (const order of orders) this.#takeOrder(order)
    this.#positions.clear()
    for (const position of positions) this.#takePosition(position)
    this.#balances.clear()
    for (const balance of balances) this.#takeBalance(balance)
  }

  apply(update: Update): void {
    switch (update.type) {
      case 'orders':
        this.#takeOrder(update.data)
        break
      case 'positions':
        for (const position of update.data) this.#takePosition(position)
        break
      case 'balances':
        this.#takeBalance(update.data)
    }
  }

  snapshot(): Snapshot {
    const sorted = (records: ReadonlyMap<string, WireRecord>) =>
      [...records].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record)
    return { orders: sorted(this.#orders), positions: sorted(this.#positions), balances: sorted(this.#balances) }
  }

  #takeOrder(order: WireRecord): void {
    const id = String(order.order_id)
    const known = this.#orders.get(id)
    if (known === undefined || revisionOf(order) > revisionOf(known)) this.#orders.set(id, order)
    else if (revisionOf(order) === revisionOf(known))
      assert.deepEqual(order, known, `order ${id} is delivered in two versions with the same revision`)
  }

  #takePosition(position: WireRecord): void {
    const key = positionKey(position)
    if (position.quantity === '0') this.#positions.delete(key)
    else this.#positions.set(key, confirmed(position))
  }

  #takeBalance(balance: WireRecord): void {
    this.#balances.set(balanceKey(balance), confirmed(balance))
  }
}

/** The same records in a form in which two snapshots can be compared. */
export function comparable({ orders, positions, balances }: Snapshot): Snapshot {
  const record = new UserRecord()
  record.adopt({ orders, positions, balances })
  return record.snapshot()
}

/** That a broker confirmed a record once more is no change, so nothing is published. */
function confirmed({ system_time: _, ...record }: WireRecord): WireRecord {
  return record
}

function positionKey({ account_id, symbol }: WireRecord): string {
  return `${account_id} ${symbol}`
}

function balanceKey({ account_id, currency_code }: WireRecord): string {
  return `${account_id} ${currency_code}`
}

export function revisionOf({ revision }: WireRecord): number {
  assert.ok(typeof revision === 'number', `an order’s revision is ${revision}`)
  return revision
}
