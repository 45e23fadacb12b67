import { readFields, type UpdateFields, userNumber } from './update.ts'

/** Checks that a session's updates are in order and without gaps, for each of its users. */
export class Checks {
  readonly #next = new Map<number, number>()
  readonly #fields: UpdateFields = { seq: 0, userAt: 0, userEnd: 0 }
  #faults = 0
  #first: string | null = null

  /**
   * Sets the `seq` after which each user's updates begin. A user without one, or set too late, begins with its first update.
   */
  begin(startsAfter: ReadonlyMap<number, number>): void {
    for (const [user, seq] of startsAfter) if (!this.#next.has(user)) this.#next.set(user, seq + 1)
  }

  receive(bytes: Uint8Array, start: number): void {
    const fields = this.#fields
    readFields(bytes, start, fields)
    const user = userNumber(bytes, fields)
    const due = this.#next.get(user)
    if (due !== undefined && due !== fields.seq) {
      this.#faults += 1
      this.#first ??= `user ${user}: received seq ${fields.seq}, expected ${due}`
    }
    this.#next.set(user, fields.seq + 1)
  }

  /** The newest `seq` of each user, by the user's number. */
  newest(): ReadonlyMap<number, number> {
    return new Map([...this.#next].map(([user, next]) => [user, next - 1]))
  }

  get faults(): number {
    return this.#faults
  }

  /** The first fault as a message; null without one. */
  get first(): string | null {
    return this.#first
  }
}
