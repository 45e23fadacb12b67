import type { Order } from '../../domain/order.ts'
import { isOpen } from '../../domain/order.ts'
import { CommitUnknown } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'
import type { InFlightCommands } from '../execution/in-flight-commands.ts'
import type { OrderReports } from '../execution/order-reports.ts'
import { awaitsAnswer, refused, type SubmissionFailure } from '../execution/order-steps.ts'
import type { OrderWriter } from '../execution/order-writer.ts'
import type { Placed, Reconciliation } from '../execution/reconciliation.ts'
import type { Mirrors } from '../mirror/mirrors.ts'

/** A request that is stored before anything is sent to the broker. */
export type Intent =
  | { readonly kind: 'place'; readonly placed: Placed }
  /** `placed` is to be replaced by `successor`. */
  | { readonly kind: 'replace'; readonly placed: Placed; readonly successor: Order }
  | { readonly kind: 'cancel'; readonly placed: Placed }

/** Most intents followed at a time. Beyond it, an order is left to the resolver, which looks it up at the broker. */
const FOLLOWED_MAX = 50_000
const PAUSES_MS = [250, 250, 500] as const
const PAUSE_MS = 1_000
/** The server aborts a statement after a minute. An intent that is not visible some time after that is looked for rarely. */
const QUICK_FOR_MS = 120_000
const RARE_MS = 30_000
/**
 * How long after the database answers again an intent is looked for. A commit that becomes visible later is found by the account's next
 * snapshot.
 */
const SHOWS_MS_MAX = 3_600_000

interface UnconfirmedParts {
  readonly orderWriter: OrderWriter
  readonly commands: InFlightCommands
  readonly reports: OrderReports
  readonly reconciliation: Reconciliation
  readonly mirrors: Mirrors
}

/**
 * Follows intents whose commit was not confirmed. Their orders are sent by no process, since no process sends what another one stored. If
 * the intent turns out to be stored, the order is ended as not sent as soon as the database shows it. A cancel may still be sent at any
 * time, so it goes to the resolver, which sends it.
 */
export class UnconfirmedIntents {
  readonly #deps: Pick<Deps, 'clock' | 'log'>
  readonly #parts: UnconfirmedParts
  readonly #followed = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(deps: Pick<Deps, 'clock' | 'log'>, parts: UnconfirmedParts) {
    this.#deps = deps
    this.#parts = parts
  }

  /** Writes an intent, and follows it if its commit was not confirmed. @throws what `write` throws; nothing may be sent then. */
  async write<T>(intent: Intent, write: () => Promise<T>): Promise<T> {
    try {
      return await write()
    } catch (cause) {
      if (cause instanceof CommitUnknown) this.#begin(intent)
      throw cause
    }
  }

  get followed(): number {
    return this.#followed.size
  }

  /** Stops following. Intents not settled by then are orders of unknown outcome for the next process. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#followed)
  }

  #begin(intent: Intent): void {
    if (this.#stopping.signal.aborted) return
    const { orderId } = intent.placed.order
    if (this.#followed.size >= FOLLOWED_MAX) {
      this.#deps.log.error('too many unconfirmed intents: this order is looked up at the broker', { orderId })
      this.#resolve(intent.placed)
      return
    }
    const followed: Promise<void> = this.#follow(intent)
      .catch(cause => {
        if (!this.#stopping.signal.aborted) this.#deps.log.error('following an unconfirmed intent failed', { orderId, cause })
      })
      .finally(() => this.#followed.delete(followed))
    this.#followed.add(followed)
  }

  async #follow(intent: Intent): Promise<void> {
    const { clock, log } = this.#deps
    let answeredAt: number | null = null
    for (let round = 0; ; round += 1) {
      const quietMs = answeredAt === null ? 0 : clock.monotonicMs() - answeredAt
      if (quietMs > SHOWS_MS_MAX) return
      await clock.sleep(PAUSES_MS[round] ?? (quietMs < QUICK_FOR_MS ? PAUSE_MS : RARE_MS), this.#stopping.signal)
      try {
        if (await this.#isSettled(intent)) return
        answeredAt ??= clock.monotonicMs()
      } catch (cause) {
        // Expected: the store may not answer yet.
        if (round === 0) log.warn('it is not known yet whether an intent was stored', { orderId: intent.placed.order.orderId, cause })
      }
    }
  }

  /** Returns false while the intent is not visible in the store. */
  async #isSettled(intent: Intent): Promise<boolean> {
    const { order } = intent.placed
    // The cached state was read before the commit could be visible.
    this.#parts.orderWriter.forget(order.orderId)
    switch (intent.kind) {
      case 'place':
        return (await this.#end(order, notStored('The order'))) !== null
      case 'replace':
        return this.#isReplacementEnded(intent.placed, intent.successor)
      case 'cancel':
        return this.#isCancelTakenUp(intent.placed)
    }
  }

  #resolve(placed: Placed): void {
    this.#parts.mirrors.want(placed.connection)
    this.#parts.reconciliation.takeOver(placed)
  }

  #end({ orderId }: Order, failure: SubmissionFailure): Promise<Order | null> {
    const at = this.#deps.clock.now()
    return this.#parts.orderWriter.change(orderId, present =>
      this.#parts.commands.isSending(present) ? null : refused(present, failure, at)
    )
  }

  async #isReplacementEnded(placed: Placed, successor: Order): Promise<boolean> {
    this.#parts.orderWriter.forget(successor.orderId)
    if ((await this.#parts.orderWriter.find(successor.orderId)) === null) return false
    await this.#parts.reports.abandonReplacement(placed.order.orderId, successor.orderId, notStored('The change'))
    // A cancel that was requested meanwhile is due now.
    const order = await this.#parts.orderWriter.find(placed.order.orderId)
    if (order !== null) this.#parts.reconciliation.schedule({ ...placed, order })
    return true
  }

  async #isCancelTakenUp(placed: Placed): Promise<boolean> {
    const order = await this.#parts.orderWriter.find(placed.order.orderId)
    if (order === null || !isOpen(order.status)) return true
    if (!awaitsAnswer(order)) return false
    this.#resolve({ ...placed, order })
    return true
  }
}

function notStored(what: 'The order' | 'The change'): SubmissionFailure {
  const message = `${what} was not sent: the database did not confirm in time that it was stored.`
  const advice = 'It is safe to request it again under a new cl_order_id.'
  return { state: 'not_sent', message, advice, rejectCode: null, brokerStatus: null }
}
