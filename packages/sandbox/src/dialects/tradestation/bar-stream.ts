/** The bar stream: the requested bars, then the open bar as it grows, and each as it closes. */

import { type Bar, type Instrument, joined, type Micros, type RawBar } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import { type Frame, type Framing, framingOf } from './bar-frames.ts'
import { type FramedBar, pastBars, rawOf } from './bar-history.ts'
import { mostOf, requestedBars } from './bar-request.ts'
import { barWire } from './bar-wire.ts'
import { requestedInstrument } from './listing.ts'
import type { StreamCall, StreamEmitter, StreamProtocol, StreamRoute } from './stream-server.ts'

const MINUTE: Micros = 60_000_000
const LATE: Micros = 2_000_000
const EVENING: Micros = 7 * 60 * MINUTE

export function barStreams(brokerage: BrokerageView): readonly StreamRoute[] {
  return [{ path: '/marketdata/stream/barcharts/:symbol', open: call => open(brokerage, call) }]
}

async function open(brokerage: BrokerageView, { request }: StreamCall): Promise<StreamProtocol> {
  const instrument = await requestedInstrument(brokerage, texts(request.params).symbol ?? '')
  const requested = requestedBars(texts(request.query), brokerage.clock.now())
  const framing = framingOf(instrument, requested.interval)
  const growing = new Growing(brokerage, instrument, framing)
  return {
    begin: emitter => growing.begin(emitter, mostOf(requested)),
    tick: () => growing.reach(brokerage.clock.now()),
    end: () => growing.end()
  }
}

class Growing {
  readonly #brokerage: BrokerageView
  readonly #instrument: Instrument
  readonly #framing: Framing
  #emitter: StreamEmitter | null = null
  #tap: Disposable | null = null
  #ended = false
  #frame: Frame | null = null
  #closedThrough: Micros = 0
  /** What the frame had before the minutes that are known one by one. */
  #before: RawBar | null = null
  readonly #minutes = new Map<Micros, RawBar>()

  constructor(brokerage: BrokerageView, instrument: Instrument, framing: Framing) {
    this.#brokerage = brokerage
    this.#instrument = instrument
    this.#framing = framing
  }

  async begin(emitter: StreamEmitter, most: number): Promise<void> {
    const { market, clock, taps } = this.#brokerage
    // From here on every minute is buffered, so that none is missed while history is read.
    const buffered: Bar[] = []
    let listen = (bar: Bar): void => void buffered.push(bar)
    this.#tap = taps.add(this.#instrument.symbol, { bar: bar => listen(bar) })
    const now = clock.now()
    const bars = await pastBars(market, this.#instrument, this.#framing, { from: 0, to: now, now, most })
    const last = bars.at(-1)
    if (last !== undefined && last.frame.over > now) await this.#resume(last, now)
    if (this.#ended) return
    for (const bar of bars) {
      const isEndOfHistory = bar === last
      emitter.send(barWire(bar, { isClosed: bar.frame.over <= now, isRealtime: false, isEndOfHistory }))
    }
    this.#emitter = emitter
    listen = bar => this.#onBar(bar)
    for (const bar of buffered) this.#onBar(bar)
  }

  /** A bar whose last minutes had no trade ends by the clock, a moment late, because the market is brought a moment late. */
  reach(now: Micros): void {
    if (this.#emitter !== null && this.#frame !== null && now >= this.#frame.over + LATE) this.#close()
  }

  end(): void {
    this.#ended = true
    this.#tap?.[Symbol.dispose]()
  }

  /** What the bar under way is made of: its day's minutes, and the days before today as a whole. */
  async #resume({ frame }: FramedBar, now: Micros): Promise<void> {
    const { market } = this.#brokerage
    const { symbol } = this.#instrument
    const today = framingOf(this.#instrument, { unit: 'Daily', size: 1, template: 'Default' }).of(now)?.start ?? frame.start
    // A futures day has begun on the evening before its date.
    const minutesFrom = this.#framing.base === '1d' ? today - EVENING : frame.start
    if (today > frame.start) {
      const days = await market.bars({ symbol, interval: '1d', from: frame.start, to: today, now })
      const past = days.filter(({ start }) => start < today).map(rawOf)
      this.#before = past.length === 0 ? null : past.reduce(joined)
    }
    for (const bar of await market.bars({ symbol, interval: '1m', from: minutesFrom, to: now + 1, now })) {
      if (this.#isOf(bar, frame) && this.#isToday(bar, today)) this.#minutes.set(bar.start, rawOf(bar))
    }
    this.#frame = frame
  }

  #isOf(bar: Bar, frame: Frame): boolean {
    return this.#framing.takes(bar.start) && this.#framing.of(bar.start)?.start === frame.start
  }

  /** The days before are there as wholes. */
  #isToday(bar: Bar, today: Micros): boolean {
    const daily = framingOf(this.#instrument, { unit: 'Daily', size: 1, template: 'Default' })
    return this.#framing.base !== '1d' || daily.of(bar.start)?.start === today
  }

  #onBar(bar: Bar): void {
    const frame = this.#framing.takes(bar.start) ? this.#framing.of(bar.start) : null
    if (frame === null || frame.over <= this.#closedThrough || (this.#frame !== null && frame.start < this.#frame.start)) return
    if (this.#frame === null || frame.start > this.#frame.start) {
      this.#close()
      this.#frame = frame
    }
    this.#minutes.set(bar.start, rawOf(bar))
    if (bar.closed && bar.start + MINUTE >= frame.over) this.#close()
    else this.#emit(false)
  }

  #close(): void {
    if (this.#frame === null) return
    this.#emit(true)
    this.#closedThrough = this.#frame.over
    this.#frame = null
    this.#before = null
    this.#minutes.clear()
  }

  #emit(isClosed: boolean): void {
    const bar = this.#whole()
    if (this.#frame === null || bar === null) return
    this.#emitter?.event(barWire({ frame: this.#frame, bar }, { isClosed, isRealtime: true, isEndOfHistory: false }))
  }

  #whole(): RawBar | null {
    const minutes = [...this.#minutes].sort(([a], [b]) => a - b).map(([, bar]) => bar)
    const parts = this.#before === null ? minutes : [this.#before, ...minutes]
    return parts.length === 0 ? null : parts.reduce(joined)
  }
}
