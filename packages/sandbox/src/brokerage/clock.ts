/** Sandbox time: the market's clock. It follows the real clock, can run faster, and can be frozen or advanced by the control API. */

import type { Micros } from '../engine/types.ts'

export interface ClockSettings {
  /** Real time in milliseconds since the epoch. */
  readonly realNow: () => number
  readonly startsAt: Micros
  /** Sandbox time per unit of real time. */
  readonly speed: number
}

export class BrokerageClock {
  readonly #realNow: () => number
  readonly #speed: number
  #brokerage: Micros
  #real: number
  #frozen = false
  #reached: Micros

  constructor({ realNow, startsAt, speed }: ClockSettings) {
    this.#realNow = realNow
    this.#speed = speed
    this.#brokerage = startsAt
    this.#reached = startsAt
    this.#real = realNow()
  }

  get frozen(): boolean {
    return this.#frozen
  }

  /** Never decreases: if the real clock is set back, sandbox time stands still until it has caught up. */
  now(): Micros {
    const passed = this.#frozen ? 0 : (this.#realNow() - this.#real) * 1000 * this.#speed
    this.#reached = Math.max(this.#reached, this.#brokerage + Math.round(passed))
    return this.#reached
  }

  /** Jumps forward. @returns false, without a change, if `to` is in the past: events cannot be undone. */
  jump(to: Micros): boolean {
    if (to < this.now()) return false
    this.#brokerage = to
    this.#reached = to
    this.#real = this.#realNow()
    return true
  }

  freeze(frozen: boolean): void {
    this.#brokerage = this.now()
    this.#real = this.#realNow()
    this.#frozen = frozen
  }
}

/** `2026-11-02T14:30:00.123456Z`. */
export function isoOf(at: Micros): string {
  const ms = Math.floor(at / 1000)
  const rest = at - ms * 1000
  return `${new Date(ms).toISOString().slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** Any ISO 8601 date-time with an offset; undefined for anything else. Digits beyond microseconds are cut off. */
export function microsOf(text: string): Micros | undefined {
  if (!ISO.test(text)) return undefined
  try {
    const instant = Temporal.Instant.from(text)
    return Number(instant.epochNanoseconds / 1000n)
  } catch {
    return undefined
  }
}
