// Faults that know where a message begins: on the sandbox's account stream, whose events carry `ev` and a `seq` without gaps, and on the
// service's own, whose updates carry `type` and `seq`.
import type { Frame } from './frames.ts'

/** What goes out instead of one frame. */
export interface Passed {
  readonly frames: readonly Frame[]
  /** The connection is reset once they are out. */
  readonly cut: boolean
}

/** What is done to the frames of one connection. */
export interface Tampering {
  take(frame: Frame): Passed
  /** What is still held back when this ends. */
  rest(): readonly Frame[]
}

/** How often each thing was done, over all connections. */
export interface Tampered {
  dropped: number
  duplicated: number
  reordered: number
  cut: number
}

export interface DisorderOptions {
  /** Shares of the events, from 0 to 1. */
  readonly drop: number
  readonly duplicate: number
  /** Events that are held back for as long as one to `window` others overtake them. */
  readonly delay: number
  readonly window: number
  readonly fraction: () => number
  readonly tally: Tampered
}

interface HeldBack {
  readonly frame: Frame
  overtakenBy: number
}

/** Drops, doubles and reorders events. Everything that is no event passes, so that what is missing can be noticed. */
export class Disorder implements Tampering {
  readonly #options: DisorderOptions
  #held: HeldBack[] = []

  constructor(options: DisorderOptions) {
    this.#options = options
  }

  take(frame: Frame): Passed {
    const { fraction, drop, duplicate, delay, window, tally } = this.#options
    if (eventOf(frame) === null) return { frames: [frame], cut: false }
    const chance = fraction()
    if (chance < drop) {
      tally.dropped += 1
      return { frames: this.#overtaken(), cut: false }
    }
    if (chance < drop + delay) {
      tally.reordered += 1
      this.#held.push({ frame, overtakenBy: 1 + Math.floor(fraction() * window) })
      return { frames: [], cut: false }
    }
    const isDoubled = chance < drop + delay + duplicate
    if (isDoubled) tally.duplicated += 1
    return { frames: [frame, ...(isDoubled ? [frame] : []), ...this.#overtaken()], cut: false }
  }

  rest(): readonly Frame[] {
    return this.#held.splice(0).map(({ frame }) => frame)
  }

  #overtaken(): readonly Frame[] {
    for (const held of this.#held) held.overtakenBy -= 1
    const due = this.#held.filter(({ overtakenBy }) => overtakenBy <= 0)
    this.#held = this.#held.filter(({ overtakenBy }) => overtakenBy > 0)
    return due.map(({ frame }) => frame)
  }
}

/** Cuts the connection between an event of one kind and the event of another kind that follows it at once. */
export class CutBetween implements Tampering {
  readonly #first: string
  readonly #second: string
  readonly #tally: Tampered
  readonly #isDue: () => boolean
  #last: string | null = null

  /** @param isDue called at each place where it could cut. */
  constructor(first: string, second: string, tally: Tampered, isDue: () => boolean) {
    this.#first = first
    this.#second = second
    this.#tally = tally
    this.#isDue = isDue
  }

  take(frame: Frame): Passed {
    const event = eventOf(frame)
    const isCutPoint = this.#last === this.#first && event === this.#second
    if (event !== null) this.#last = event
    if (!isCutPoint || !this.#isDue()) return { frames: [frame], cut: false }
    this.#tally.cut += 1
    return { frames: [], cut: true }
  }

  rest(): readonly Frame[] {
    return []
  }
}

const EVENTS = ['order', 'fill', 'position', 'balance', 'orders', 'positions', 'balances']

/** The kind of a numbered event or update; null of everything else. */
export function eventOf({ text }: Frame): string | null {
  const kind = text === null ? undefined : /^\{"(?:ev|type)":"(\w+)","seq":\d/.exec(text)?.[1]
  return kind !== undefined && EVENTS.includes(kind) ? kind : null
}
