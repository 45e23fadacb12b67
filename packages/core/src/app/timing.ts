/** Time limits of the application, in milliseconds. Settings can override them; tests shorten them. */
export interface Timing {
  /** How long an order request waits for the broker before it returns the last known state. */
  readonly answerWithinMs: number
  /**
   * How long a command waits for the broker's answer before its outcome counts as unknown. A late answer is not lost: the resolver looks
   * the order up.
   */
  readonly commandMs: number
  /** How long a read from a broker may take. */
  readonly readMs: number
  /** The age up to which a confirmed record is fresh enough for a read. */
  readonly freshMs: number
  /** How long look-ups must keep finding nothing before an order counts as never received, by the broker's deduplication. */
  readonly absenceMs: { readonly enforced: number; readonly bounded: number; readonly open_only: number; readonly label: number }
  /** The age of a sent order from which a negative look-up counts. */
  readonly settleMs: number
  /** How long a mirror continues after its last open order. */
  readonly mirrorIdleMs: number
  /** Longest interval between snapshots of an account without a live stream. */
  readonly pollMs: number
  /** Longest interval between reads of the orders of an account with open orders, while its stream is live. */
  readonly reconcileMs: number
  /** Longest interval between full snapshots of an account while its stream is live. */
  readonly auditMs: number
  /** Pauses between look-ups of an unknown outcome; the last one repeats. */
  readonly lookupPausesMs: readonly number[]
}

export const DEFAULT_TIMING: Timing = {
  answerWithinMs: 5_000,
  commandMs: 30_000,
  readMs: 5_000,
  freshMs: 2_000,
  absenceMs: { enforced: 60_000, bounded: 120_000, open_only: 120_000, label: 300_000 },
  settleMs: 1_000,
  mirrorIdleMs: 120_000,
  pollMs: 5_000,
  reconcileMs: 60_000,
  auditMs: 300_000,
  lookupPausesMs: [500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000]
}
