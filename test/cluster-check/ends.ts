// Which ends of a node are explained by what was done to it.

/** A node that lost its lease. Every other code than this and 0 is a finding, 70 above all: an exception that nothing caught. */
export const LEASE_LOST = 69
/** A node that did not start. */
const NOT_STARTED = 1
/** So long after a disturbance of its lease a node may still end by it: a lease lasts three seconds. */
const RECOVERY_MS = 5_000
/** A machine on which something was this late may keep an undisturbed node from renewing its lease. */
const LATE_MS = 1_000

/** What keeps a node from renewing its lease. */
export const LEASE_DISTURBANCES = ['pause', 'database link', 'PostgreSQL'] as const
export type LeaseDisturbance = (typeof LEASE_DISTURBANCES)[number]

export interface End {
  /** The exit code, or the signal. */
  readonly code: number | string
  /** Whether it had printed that it was ready. */
  readonly wasReady: boolean
  /** By the monotonic clock. */
  readonly at: number
  /** How late the machine was since an instant. */
  readonly lateMs: (since: number) => number
}

/** What explains the ends of one node, over all its processes. */
export class Explanations {
  readonly #going = new Set<LeaseDisturbance>()
  #leaseFreeAt = Number.NEGATIVE_INFINITY
  #expected: readonly (number | string)[] = []

  /** A new process: what ended the one before explains nothing any more. */
  began(): void {
    this.#expected = []
  }

  expect(...codes: readonly (number | string)[]): void {
    this.#expected = [...this.#expected, ...codes]
  }

  disturbLease(by: LeaseDisturbance): void {
    this.#going.add(by)
  }

  freeLease(by: LeaseDisturbance, at: number): void {
    if (this.#going.delete(by)) this.#leaseFreeAt = at
  }

  explains({ code, wasReady, at, lateMs }: End): boolean {
    if (this.#expected.includes(code)) return true
    if (code === NOT_STARTED && !wasReady) return true
    return code === LEASE_LOST && this.#isLeaseDisturbed(at, lateMs(at - RECOVERY_MS))
  }

  #isLeaseDisturbed(at: number, lateMs: number): boolean {
    return this.#going.size > 0 || lateMs >= LATE_MS || at - this.#leaseFreeAt < RECOVERY_MS
  }
}
