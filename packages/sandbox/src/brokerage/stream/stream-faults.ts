/** Fault injection for streams: what happens to each outgoing frame. */

import type { StreamFault } from '../../control-terms.ts'

export interface StreamFaultSpec {
  readonly do: StreamFault
  /** A login's id; null: all logins. */
  readonly login: string | null
  readonly code: number | null
  readonly ms: number
  readonly times: number | null
  readonly window: number
}

/** The faults of the streams of one login, or of all logins. */
export class StreamFaultState {
  mutedUntil = 0
  delayMs = 0
  duplicates = 0
  losses = 0
  window = 0

  apply(spec: StreamFaultSpec, now: number): void {
    switch (spec.do) {
      case 'mute':
        this.mutedUntil = spec.ms === 0 ? Number.POSITIVE_INFINITY : now + spec.ms
        break
      case 'delay':
        this.delayMs = spec.ms
        break
      case 'duplicate':
        this.duplicates = spec.times ?? Number.POSITIVE_INFINITY
        break
      case 'lose':
        this.losses = spec.times ?? 1
        break
      case 'reorder':
        this.window = spec.window
        break
      case 'normal':
        this.mutedUntil = this.delayMs = this.duplicates = this.losses = this.window = 0
        break
      case 'drop':
      case 'garble':
        break
    }
  }

  get harmless(): boolean {
    return this.mutedUntil === 0 && this.delayMs === 0 && this.duplicates === 0 && this.losses === 0 && this.window === 0
  }

  /** Counts one event towards the losses. */
  loses(): boolean {
    return this.losses > 0 && this.losses-- > 0
  }

  duplicatesNext(): boolean {
    return this.duplicates > 0 && this.duplicates-- > 0
  }
}

/** The faults of the streams of one kind, for all logins and for each. */
export class StreamFaults {
  readonly #everybody = new StreamFaultState()
  readonly #own = new Map<string, StreamFaultState>()

  apply(spec: StreamFaultSpec, now: number): void {
    this.#of(spec.login).apply(spec, now)
    if (spec.do === 'normal' && spec.login === null) this.#own.clear()
  }

  /** Empty without faults. */
  of(login: string): readonly StreamFaultState[] {
    const own = this.#own.get(login)
    if (this.#everybody.harmless && (own === undefined || own.harmless)) return []
    return own === undefined ? [this.#everybody] : [this.#everybody, own]
  }

  clear(): void {
    this.apply({ do: 'normal', login: null, code: null, ms: 0, times: null, window: 0 }, 0)
  }

  #of(login: string | null): StreamFaultState {
    if (login === null) return this.#everybody
    const known = this.#own.get(login)
    if (known !== undefined) return known
    const fresh = new StreamFaultState()
    this.#own.set(login, fresh)
    return fresh
  }
}
