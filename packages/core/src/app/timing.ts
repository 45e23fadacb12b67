/** How long the application waits for things. Milliseconds throughout. Settings may override; tests make them short. */
export interface Timing {
  /** How long an order request waits for the broker's answer before it answers with what is known. */
  readonly answerWithinMs: number
  /** How long a command waits for the broker's answer before its outcome counts as unknown. A late answer is not lost: the resolver looks. */
  readonly commandMs: number
  /** How long a read from a broker may take. */
  readonly readMs: number
  /** A record confirmed this recently is fresh enough for a read. */
  readonly freshMs: number
  /** How long clean negative look-ups must go on before an order counts as never received, by the broker's de-duplication. */
  readonly absenceMs: { readonly enforced: number; readonly bounded: number; readonly open_only: number; readonly label: number }
  /** How old a sent order must be before a negative look-up counts at all. */
  readonly settleMs: number
  /** How long a mirror stays after its last open order. */
  readonly mirrorIdleMs: number
  /** At most how long between two snapshots of an account without a live stream, because there is none or it is down. */
  readonly pollMs: number
  /** At most how long between two readings of the orders of an account that has open ones, although its stream is well. */
  readonly reconcileMs: number
  /** At most how long between two full snapshots of an account although its stream is well. */
  readonly auditMs: number
  /** Pauses between look-ups of an unknown outcome; the last repeats. */
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
