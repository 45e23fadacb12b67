/** The bar stream of single minutes, which is all that is emulated: those requested, then the present one as it grows, and each as it closes. */

import { type Bar, type Micros, Problem } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import { barWire, type FramedBar, type Framing, framedBar, framingOf, pastBars, requestedBars } from './bars.ts'
import { requestedInstrument } from './listing.ts'
import type { StreamCall, StreamEmitter, StreamProtocol, StreamRoute } from './stream-server.ts'

/** The market is brought a moment late. */
const LATE: Micros = 2_000_000

export function barStreams(brokerage: BrokerageView): readonly StreamRoute[] {
  return [{ path: '/marketdata/stream/barcharts/:symbol', open: call => open(brokerage, call) }]
}

async function open(brokerage: BrokerageView, { request }: StreamCall): Promise<StreamProtocol> {
  const { market, clock, taps } = brokerage
  const instrument = await requestedInstrument(brokerage, texts(request.params).symbol ?? '')
  const requested = requestedBars(texts(request.query), clock.now())
  const { unit, size } = requested.interval
  if (unit !== 'Minute' || size !== 1) throw new Problem('bad_request', 'The sandbox streams bars of one minute only', { status: 501 })
  const framing = framingOf(instrument, requested.interval)
  let tap: Disposable | null = null
  let growing: Growing | null = null
  return {
    async begin(emitter) {
      // From here on every minute is buffered, so that none is missed while history is read.
      const buffered: Bar[] = []
      let listen = (bar: Bar): void => void buffered.push(bar)
      tap = taps.add(instrument.symbol, { bar: bar => listen(bar) })
      const now = clock.now()
      const bars = await pastBars(market, instrument, requested, now)
      const last = bars.at(-1)
      for (const bar of bars) {
        const isClosed = bar.frame.over <= now
        emitter.send(barWire(bar, { isClosed, isRealtime: false, isEndOfHistory: bar === last }))
      }
      const reader = new Growing(emitter, framing, last !== undefined && last.frame.over > now ? last : null)
      growing = reader
      listen = bar => reader.onBar(bar)
      for (const bar of buffered) reader.onBar(bar)
    },
    tick: () => growing?.reach(clock.now()),
    end: () => tap?.[Symbol.dispose]()
  }
}

class Growing {
  readonly #emitter: StreamEmitter
  readonly #framing: Framing
  #present: FramedBar | null
  #closedThrough: Micros = 0

  constructor(emitter: StreamEmitter, framing: Framing, present: FramedBar | null) {
    this.#emitter = emitter
    this.#framing = framing
    this.#present = present
  }

  onBar(bar: Bar): void {
    const next = framedBar(bar, this.#framing)
    if (next === null || next.frame.over <= this.#closedThrough) return
    const present = this.#present
    if (present !== null && next.frame.start < present.frame.start) return
    if (present !== null && next.frame.start > present.frame.start) this.#close()
    this.#present = next
    if (bar.closed) this.#close()
    else this.#emit(next, false)
  }

  /** A minute without another trade ends by the clock. */
  reach(now: Micros): void {
    if (this.#present !== null && now >= this.#present.frame.over + LATE) this.#close()
  }

  #close(): void {
    if (this.#present === null) return
    this.#emit(this.#present, true)
    this.#closedThrough = this.#present.frame.over
    this.#present = null
  }

  #emit(bar: FramedBar, isClosed: boolean): void {
    this.#emitter.event(barWire(bar, { isClosed, isRealtime: true, isEndOfHistory: false }))
  }
}
