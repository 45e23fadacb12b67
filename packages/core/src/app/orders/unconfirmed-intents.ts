import type { Order } from '../../domain/order.ts'
import { isOpen } from '../../domain/order.ts'
import { CommitUnknown } from '../../ports/store.ts'
import type { Deps } from '../deps.ts'
import type { OrderGateway, Placed } from './order-gateway.ts'
import { awaitsAnswer, refused, type SubmissionFailure } from './order-steps.ts'
import type { OrderWriter } from './order-writer.ts'

/** What was to be written before anything is sent. */
export type Intent =
  | { readonly kind: 'place'; readonly placed: Placed }
  /** `placed` is to be replaced by `successor`. */
  | { readonly kind: 'replace'; readonly placed: Placed; readonly successor: Order }
  | { readonly kind: 'cancel'; readonly placed: Placed }

/** What is looked after at once; beyond it the resolver takes the order, and looks for it at the broker. */
const FOLLOWED_MAX = 50_000
const PAUSES_MS = [250, 250, 500] as const
const PAUSE_MS = 1_000
/** The server ends a statement after a minute; what has not shown some time after that is looked for rarely. */
const QUICK_FOR_MS = 120_000
const RARE_MS = 30_000
/** A commit that shows only later than this after the database answered again is taken up by the account's next snapshot. */
const SHOWS_MS_MAX = 3_600_000

/**
 * Intents whose commit was not confirmed. They are not sent, by this process or by any other, since no process sends what another stored. So one that turns out to be
 * stored is ended as not sent as soon as the database shows it; a cancel, which may go out at any time, is handed to the resolver, and goes out.
 */
export class UnconfirmedIntents {
  readonly #deps: Pick<Deps, 'clock' | 'log'>
  readonly #orderWriter: OrderWriter
  readonly #gateway: OrderGateway
  readonly #resolve: (placed: Placed) => void
  readonly #followed = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(
    deps: Pick<Deps, 'clock' | 'log'>,
    parts: { readonly orderWriter: OrderWriter; readonly gateway: OrderGateway; readonly resolve: (placed: Placed) => void }
  ) {
    this.#deps = deps
    this.#orderWriter = parts.orderWriter
    this.#gateway = parts.gateway
    this.#resolve = parts.resolve
  }

  /** Writes an intent, and looks after it when it is unknown whether it was written. @throws what `write` throws; then nothing may be sent. */
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

  /** What is not settled by now is of unknown outcome for the next process. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#followed)
  }

  #begin(intent: Intent): void {
    if (this.#stopping.signal.aborted) return
    const { orderId } = intent.placed.order
    if (this.#followed.size >= FOLLOWED_MAX) {
      this.#deps.log.error('too many intents of unknown commit: this one is looked for at the broker', { orderId })
      this.#resolve(intent.placed)
      return
    }
    const followed: Promise<void> = this.#follow(intent)
      .catch(cause => {
        if (!this.#stopping.signal.aborted) this.#deps.log.error('looking after an intent of unknown commit failed', { orderId, cause })
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
        // A store that does not answer yet is the reason for all this.
        if (round === 0) log.warn('whether an intent was stored is not known yet', { orderId: intent.placed.order.orderId, cause })
      }
    }
  }

  /** @returns false where the intent does not show (yet). */
  async #isSettled(intent: Intent): Promise<boolean> {
    const { order } = intent.placed
    // What is remembered was read before the commit could show.
    this.#orderWriter.forget(order.orderId)
    switch (intent.kind) {
      case 'place':
        return (await this.#end(order, notStored('The order'))) !== null
      case 'replace':
        return this.#isReplacementEnded(intent.placed, intent.successor)
      case 'cancel':
        return this.#isCancelTakenUp(intent.placed)
    }
  }

  #end({ orderId }: Order, failure: SubmissionFailure): Promise<Order | null> {
    const at = this.#deps.clock.now()
    return this.#orderWriter.change(orderId, present => (this.#gateway.isSending(present) ? null : refused(present, failure, at)))
  }

  async #isReplacementEnded(placed: Placed, successor: Order): Promise<boolean> {
    this.#orderWriter.forget(successor.orderId)
    if ((await this.#orderWriter.find(successor.orderId)) === null) return false
    await this.#gateway.abandonReplacement(placed.order.orderId, successor.orderId, notStored('The change'))
    // A cancel that was asked for meanwhile is due now.
    const order = await this.#orderWriter.find(placed.order.orderId)
    if (order !== null) this.#gateway.scheduleReconciliation({ ...placed, order })
    return true
  }

  async #isCancelTakenUp(placed: Placed): Promise<boolean> {
    const order = await this.#orderWriter.find(placed.order.orderId)
    if (order === null || !isOpen(order.status)) return true
    if (!awaitsAnswer(order)) return false
    this.#resolve({ ...placed, order })
    return true
  }
}

function notStored(what: 'The order' | 'The change'): SubmissionFailure {
  const message = `${what} was not sent: the database did not confirm in time that it was stored.`
  const advice = 'It is safe to ask for it again under a new cl_order_id.'
  return { state: 'not_sent', message, advice, rejectCode: null, brokerStatus: null }
}
