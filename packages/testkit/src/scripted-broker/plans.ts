// What a scripted broker shall do instead of behaving well.

import type { OrderStatus, RejectCode } from '@trunkline/core/domain/vocabulary'
import type { BrokerFaultKind, OrderReport } from '@trunkline/core/ports/broker'
import type { OrderPreview } from '@trunkline/core/ports/preview'

/** What becomes of one command, and which answer its sender gets. Left out: it is carried out and answered at once. */
export interface CommandPlan {
  /**
   * At the broker: carried out, refused, refused and stored in its ledger as an order that was rejected, or it never arrives. A replacement may be taken
   * and left to the test to carry out. `refused_unsent`: by the adapter, before anything is sent.
   */
  readonly effect?: 'done' | 'refused' | 'refused_unsent' | 'refused_and_kept' | 'taken' | 'none'
  /** Of a replacement that was taken: what the look at what came of it failed with. */
  readonly unseen?: BrokerFaultKind
  /** How long it travels. */
  readonly effectAfterMs?: number
  /**
   * What the sender is answered: the truth (which waits for the effect), unknown, not sent, an exception, nothing for ever,
   * or nothing until its deadline.
   */
  readonly reply?: 'truth' | 'unknown' | 'not_sent' | 'throws' | 'never' | 'deadline'
  /** From the sending, or after the effect where the truth is answered. */
  readonly replyAfterMs?: number
  /** The broker's message of refusal. */
  readonly message?: string
  /** What they come to; `other` where left out. */
  readonly rejectCode?: RejectCode
  /** The state in which the broker takes a new order, or keeps one whose cancel it took; `working` and `cancelled` where left out. */
  readonly status?: OrderStatus
}

/** What becomes of one read. */
export interface ReadPlan {
  readonly fault?: BrokerFaultKind
  readonly afterMs?: number
  /** How long the answer is on its way once it was taken: what happens meanwhile is not in it. */
  readonly travelsMs?: number
  /** The token has ended: the login gets a new one first. */
  readonly renews?: true
  /** Until its deadline at most, or, deaf, for ever. */
  readonly hangs?: 'deadline' | 'for_ever'
  /** The answer holds nothing, as if there were nothing. */
  readonly isEmpty?: true
  /** Orders that the answer leaves out, as if they were not there. */
  readonly hides?: (report: OrderReport) => boolean
}

/** What a preview is answered with; as an order it is placed. */
export type PreviewAnswer = OrderPreview | 'placed'

export type CommandKind = 'submit' | 'cancel' | 'replace'
export type ReadKind = 'accounts' | 'balances' | 'positions' | 'orders' | 'transactions' | 'findOrder' | 'preview'

/** One delivery of a report to the account stream. */
export interface Delivery {
  readonly report: OrderReport
  readonly afterMs: number
}
