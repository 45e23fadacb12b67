/** Milliseconds of the machine's monotonic clock, which all its processes share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const MARK = Buffer.from('"due ')
const SPACE = 0x20
const QUOTE = 0x22

/**
 * Reads an update's due time from the text that its sandbox put into it (`"due <number> <microseconds>"`), and records its arrival.
 */
export class Stamps {
  #dueAt: Float64Array
  #cameAt: Float64Array
  #came = 0

  /** @param total how many are numbered, from 0 */
  constructor(total: number) {
    this.#dueAt = new Float64Array(total).fill(Number.NaN)
    this.#cameAt = new Float64Array(total).fill(Number.NaN)
  }

  /** The number of different ones that arrived. */
  get came(): number {
    return this.#came
  }

  receive(bytes: Buffer, start: number, end: number, now: number): void {
    let at = bytes.indexOf(MARK, start)
    if (at === -1 || at >= end) return
    at += MARK.length
    let number = 0
    for (; bytes[at] !== SPACE; at += 1) number = number * 10 + (bytes[at] ?? 0) - 0x30
    let micros = 0
    for (at += 1; bytes[at] !== QUOTE; at += 1) micros = micros * 10 + (bytes[at] ?? 0) - 0x30
    if (number >= this.#cameAt.length || !Number.isNaN(this.#cameAt[number])) return
    this.#dueAt[number] = micros / 1_000
    this.#cameAt[number] = now
    this.#came += 1
  }

  /** From the due time to the arrival, by number; NaN for missing ones. Milliseconds. */
  latencies(): Float64Array {
    return this.#cameAt.map((came, index) => came - (this.#dueAt[index] ?? Number.NaN))
  }

  /** From the first to the last arrival, in milliseconds. */
  spanMs(): number {
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const at of this.#cameAt) {
      if (at < first) first = at
      if (at > last) last = at
    }
    return last - first
  }
}
