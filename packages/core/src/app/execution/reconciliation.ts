import type { Account, Connection } from '../../domain/account.ts'
import type { Order } from '../../domain/order.ts'
import type { InFlightCommands } from './in-flight-commands.ts'

/** An order, its account and its connection. */
export interface Placed {
  readonly connection: Connection
  readonly account: Account
  readonly order: Order
}

/** Looks an order up at its broker until no answer is pending. A repeated order that has nothing new changes nothing. */
export interface Reconciler {
  watch(placed: Placed): void
}

/** Where everything that sends orders, or reads them at brokers, hands over an order whose answer is pending. */
export class Reconciliation {
  readonly #commands: InFlightCommands
  #reconciler: Reconciler | null = null

  constructor(commands: InFlightCommands) {
    this.#commands = commands
  }

  /** To be called once, before the first command. @throws Error when a reconciler runs already: two would look the same order up. */
  run(reconciler: Reconciler): void {
    if (this.#reconciler !== null) throw new Error('orders have a reconciler already')
    this.#reconciler = reconciler
  }

  /** Hands the order over if an answer is pending that no command on the wire will bring. */
  schedule(placed: Placed): void {
    if (this.#commands.isUnanswered(placed.order)) this.takeOver(placed)
  }

  /** Hands the order over whatever is on the wire. */
  takeOver(placed: Placed): void {
    if (this.#reconciler === null) throw new Error('no reconciler runs yet')
    this.#reconciler.watch(placed)
  }
}
