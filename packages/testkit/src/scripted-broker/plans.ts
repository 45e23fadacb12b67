// Plans for a scripted broker's deviations.

import type { OrderStatus, RejectCode } from '@trunkline/core/domain/vocabulary'
import type { BrokerFaultKind, OrderReport } from '@trunkline/core/ports/broker'
import type { OrderPreview } from '@trunkline/core/ports/preview'

/** The effect of one command, and the answer to its sender. By default it is carried out and answered at once. */
export interface CommandPlan {
  /**
   * At the broker: carried out, refused, refused and stored in its ledger as a rejected order, or never received. A replacement may be
   * accepted and left to the test to carry out. `refused_unsent`: by the adapter, before anything is sent.
   */
  readonly effect?: 'done' | 'refused' | 'refused_unsent' | 'refused_and_kept' | 'taken' | 'none'
  /** For an accepted replacement: the error of the look-up of its result. */
  readonly unseen?: BrokerFaultKind
  /** How long it waits before it is sent, as in the limiter of an adapter. */
  readonly waitsMs?: number
  /** How long it travels. */
  readonly effectAfterMs?: number
  /**
   * The answer: the truth (which waits for the effect), unknown, not sent, an exception, nothing for ever, or nothing until the deadline.
   */
  readonly reply?: 'truth' | 'unknown' | 'not_sent' | 'throws' | 'never' | 'deadline'
  /** Counted from the sending, or from the effect if the truth is answered. */
  readonly replyAfterMs?: number
  /** The broker's message of refusal. */
  readonly message?: string
  /** The reject code; `other` by default. */
  readonly rejectCode?: RejectCode
  /** The status of a new order, or of one whose cancel was accepted; `working` and `cancelled` by default. */
  readonly status?: OrderStatus
}

/** What becomes of one read. */
export interface ReadPlan {
  readonly fault?: BrokerFaultKind
  readonly afterMs?: number
  /** How long the answer is on its way: later changes are not in it. */
  readonly travelsMs?: number
  /** The token has expired: the login gets a new one first. */
  readonly renews?: true
  /** Until its deadline at most, or for ever if the caller ignores it. */
  readonly hangs?: 'deadline' | 'for_ever'
  /** The answer is empty. */
  readonly isEmpty?: true
  /** Records that could not be read: positions by their symbol, balances by their currency, transactions by their id. */
  readonly leavesOut?: (id: string) => boolean
  /** Orders that the answer omits. */
  readonly hides?: (report: OrderReport) => boolean
}

/** The answer to a preview; an order is placed. */
export type PreviewAnswer = OrderPreview | 'placed'

export type CommandKind = 'submit' | 'cancel' | 'replace'
export type ReadKind = 'accounts' | 'balances' | 'positions' | 'orders' | 'transactions' | 'findOrder' | 'preview'

/** One delivery of a report to the account stream. */
export interface Delivery {
  readonly report: OrderReport
  readonly afterMs: number
}
