import type { OrderId, UserKey } from '../../domain/ids.ts'
import type { Order } from '../../domain/order.ts'
import type { Clock } from '../../ports/clock.ts'
import { within } from '../time-limits.ts'
import { acknowledged, awaitsAnswer } from './order-steps.ts'

/** `stop` is the cancel of an order whose replacement is pending. */
export type CommandKind = 'submit' | 'cancel' | 'stop' | 'replace'

/** Gives the order's state after the command, or null where the order is gone. */
type Outcome = Promise<Order | null>

/** The commands that are on the wire: sent to a broker, or about to be, and without an outcome. */
export class InFlightCommands {
  /** The newest command of each kind and order. A replacement counts under its successor. */
  readonly #newest: { readonly [kind in CommandKind]: Map<OrderId, Outcome> } = {
    submit: new Map(),
    cancel: new Map(),
    stop: new Map(),
    replace: new Map()
  }
  /** Every command without an answer yet, including those that a newer one has superseded in `#inFlight`. */
  readonly #all = new Map<Promise<unknown>, UserKey>()

  newest(kind: CommandKind, { orderId }: Order): Outcome | undefined {
    return this.#newest[kind].get(orderId)
  }

  /** Runs a command and registers it until it ends. `isNewest` is false once another command of its kind and order has begun. */
  run(kind: CommandKind, { orderId, userKey }: Order, command: (isNewest: () => boolean) => Outcome): Outcome {
    const newest = this.#newest[kind]
    const isNewest = () => newest.get(orderId) === outcome
    const outcome: Outcome = atEnd(command(isNewest), () => {
      this.#all.delete(outcome)
      if (isNewest()) newest.delete(orderId)
    })
    newest.set(orderId, outcome)
    this.#all.set(outcome, userKey)
    return outcome
  }

  /** Whether the order itself, as a submission or as a replacement, is on the wire: then its absence at the broker proves nothing. */
  isSending({ orderId }: Order): boolean {
    return this.#has('submit', orderId) || this.#has('replace', orderId)
  }

  isCancelling({ orderId }: Order): boolean {
    return this.#has('cancel', orderId)
  }

  /** Whether any command of the order is on the wire. */
  isUnderWay(order: Order): boolean {
    return this.isSending(order) || this.isCancelling(order) || this.#has('stop', order.orderId) || this.#isReplacing(order)
  }

  /** Whether the order has a pending answer that no command on the wire will bring. */
  isUnanswered(order: Order): boolean {
    if (!awaitsAnswer(order)) return false
    return !(acknowledged(order) ? this.isCancelling(order) || this.#isReplacing(order) : this.isSending(order))
  }

  /** Resolves once no submission of the order is in flight, whatever its outcome. Never rejects. */
  async sent(order: Order): Promise<void> {
    await Promise.allSettled([this.newest('submit', order), this.newest('replace', order)])
  }

  /** Waits until no command is in flight, at most `ms`. Returns how many still are. */
  async drain(clock: Clock, ms: number): Promise<number> {
    await within(clock, Promise.allSettled(this.#all.keys()), ms)
    return this.#all.size
  }

  /** Counts `work`, which stores an intent and then sends it, from before its commit. */
  during(userKey: UserKey, work: () => Promise<Order>): Promise<Order> {
    const outcome: Promise<Order> = atEnd(work(), () => this.#all.delete(outcome))
    this.#all.set(outcome, userKey)
    return outcome
  }

  /** Waits until no command of these users is in flight or about to be. */
  async settled(isIncluded: (userKey: UserKey) => boolean): Promise<void> {
    for (;;) {
      const left = [...this.#all].flatMap(([outcome, userKey]) => (isIncluded(userKey) ? [outcome] : []))
      if (left.length === 0) return
      await Promise.allSettled(left)
    }
  }

  #isReplacing({ pendingRequest }: Order): boolean {
    const successorId = pendingRequest?.successorId ?? null
    return successorId !== null && this.#has('replace', successorId)
  }

  #has(kind: CommandKind, orderId: OrderId): boolean {
    return this.#newest[kind].has(orderId)
  }
}

async function atEnd<T>(outcome: Promise<T>, end: () => void): Promise<T> {
  try {
    return await outcome
  } finally {
    end()
  }
}
