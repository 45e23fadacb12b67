// A scripted broker's account streams: lossless unless scripted otherwise.
import type { AccountEvent, OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { Delivery } from './plans.ts'

/** One reader of the stream. */
interface Reader {
  readonly waiting: AccountEvent[]
  wake: () => void
  fault: Error | null
}

export class Streams {
  readonly #clock: Clock
  readonly #readers = new Set<Reader>()
  #isUp = true
  #isNoticed = false
  /** The deliveries of each report: none, one, two, late. By default one, at once. */
  route: (report: OrderReport) => readonly Delivery[] = report => [{ report, afterMs: 0 }]

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get readers(): number {
    return this.#readers.size
  }

  publish(report: OrderReport): void {
    for (const { report: reported, afterMs } of this.route(report)) {
      if (afterMs === 0) this.push({ type: 'order', report: reported })
      else void this.#clock.sleep(afterMs).then(() => this.push({ type: 'order', report: reported }))
    }
  }

  /** Reports published while the stream is down are lost. */
  push(event: AccountEvent): void {
    if (!this.#isUp) return
    for (const reader of this.#readers) this.#give(reader, event)
  }

  /** Breaks the stream. Its readers receive the cause at once, or only when the stream is back. */
  down(isNoticed = false, cause: GapCause = 'lost'): void {
    this.#isNoticed = isNoticed && this.#isUp
    if (this.#isNoticed) this.#publishGap(cause)
    this.#isUp = false
  }

  up(): void {
    if (this.#isUp) return
    this.#isUp = true
    if (!this.#isNoticed) this.#publishGap('lost')
    this.push({ type: 'live', at: this.#clock.now() })
  }

  /** Ends every reader with an exception. */
  fail(fault: Error): void {
    for (const reader of this.#readers) {
      reader.fault = fault
      reader.wake()
    }
  }

  async *read(signal: AbortSignal): AsyncGenerator<AccountEvent, void, undefined> {
    const reader: Reader = { waiting: [], wake: () => undefined, fault: null }
    this.#readers.add(reader)
    const stop = () => reader.wake()
    signal.addEventListener('abort', stop, { once: true })
    if (this.#isUp) this.#give(reader, { type: 'live', at: this.#clock.now() })
    try {
      while (!signal.aborted) {
        if (reader.fault !== null) throw reader.fault
        const event = reader.waiting.shift()
        if (event !== undefined) yield event
        else {
          await new Promise<void>(resolve => {
            reader.wake = resolve
          })
        }
      }
    } finally {
      signal.removeEventListener('abort', stop)
      this.#readers.delete(reader)
    }
  }

  #publishGap(cause: GapCause): void {
    this.push({ type: 'gap', cause, reason: 'the scripted stream broke', at: this.#clock.now() })
  }

  #give(reader: Reader, event: AccountEvent): void {
    reader.waiting.push(event)
    reader.wake()
  }
}
