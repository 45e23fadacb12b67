import { setImmediate as nextLoop, setTimeout as pause } from 'node:timers/promises'
import { RawSocket } from '../../stream/client/raw-socket.ts'
import { TradeChecks } from '../client/trade-checks.ts'
import type { FeedPlan, FeedResult } from '../driver-requests.ts'
import { type MarketStreams, READERS, type Reader } from './streams.ts'
import type { Trades } from './trades.ts'

/** Maximum number of trades sent per turn of the event loop. */
const TRADES_AT_ONCE_MAX = 1_000
/** Maximum time that trades may be in flight. */
const ARRIVAL_MS = 30_000
const AT = Buffer.from('"at":"')
const MICROS_DIGITS = 16
const NOTHING = new Float64Array(0)

/**
 * Sends trades to one reader of the market stream, at a rate or as fast as they are received at the other end, and records their arrivals.
 */
export class TradeFeed {
  readonly #streams: MarketStreams
  readonly #reader: Reader
  readonly #trades: Trades
  #checks: TradeChecks
  /** The number of the next trade, over all runs. */
  #next = 0
  #received = 0
  #receivedAt = 0
  /** By the number of the trade less the run's first. */
  #run: { readonly first: number; readonly came: Float64Array; readonly direct: Float64Array; readonly batch: number } | null = null
  #wake: { readonly at: number; readonly up: () => void } | null = null

  constructor(streams: MarketStreams, reader: Reader, trades: Trades) {
    this.#streams = streams
    this.#reader = reader
    this.#trades = trades
    this.#checks = this.#checking(new Map())
  }

  /** @param subscriptions the index of each subscription's symbol, by `sub_id` */
  expect(subscriptions: ReadonlyMap<number, number>): void {
    this.#checks = this.#checking(subscriptions)
  }

  receive(bytes: Buffer, start: number, end: number): void {
    this.#checks.receive(bytes, start, end)
  }

  /** Also reads the front's own stream. */
  async listenAt(url: string): Promise<RawSocket> {
    const socket = await RawSocket.open({ url, onMessage: (bytes, start, end) => this.#onDirectMessage(bytes, start, end) })
    socket.send(JSON.stringify({ op: 'login', token: READERS[1] }))
    return socket
  }

  /** @param failure the client's fault; null without one. @throws Error if a trade does not arrive, or not in order */
  async run({ seconds, batch, perSecond, windowMax }: FeedPlan, failure: () => string | null): Promise<FeedResult> {
    const reader = this.#streams.of(this.#reader)
    const direct = perSecond !== null && this.#streams.has('direct') ? this.#streams.of('direct') : null
    const stamps = perSecond === null ? 0 : Math.ceil(seconds * perSecond) + TRADES_AT_ONCE_MAX
    const sentAt = new Float64Array(stamps)
    const first = this.#next
    const run = { first, came: new Float64Array(stamps), direct: new Float64Array(direct === null ? 0 : stamps), batch }
    this.#run = run
    this.#received = 0
    const started = performance.now()
    let sent = 0
    for (let now = started; now < started + 1_000 * seconds; now = performance.now()) {
      const capacity = perSecond === null ? windowMax - (sent - this.#received) : ((now - started) * perSecond) / 1_000 - sent
      const batches = reader.isBehind ? 0 : Math.floor(Math.min(capacity, TRADES_AT_ONCE_MAX) / batch)
      for (let each = 0; each < batches; each += 1) {
        const items = this.#trades.items(this.#next, batch)
        reader.send(items)
        direct?.send(items)
        this.#next += batch
      }
      const at = performance.now()
      if (perSecond !== null) sentAt.fill(at, sent, sent + batches * batch)
      sent += batches * batch
      reader.flush()
      direct?.flush()
      if (batches > 0) await nextLoop()
      else if (perSecond !== null) await pause(1)
      else await this.#receivedUpTo(sent - windowMax + TRADES_AT_ONCE_MAX, failure)
    }
    await this.#receivedUpTo(sent, failure)
    if (direct !== null) await this.#directly(sent, run.direct)
    this.#run = null
    if (this.#checks.faults > 0) throw new Error(`${this.#checks.faults} trades were wrong, the first: ${this.#checks.first}`)
    const spanMs = this.#receivedAt - started
    const since = (came: Float64Array) => came.subarray(0, sent).map((at, number) => at - (sentAt[number] ?? Number.NaN))
    if (perSecond === null) return { total: sent, spanMs, latencies: NOTHING, direct: NOTHING }
    return { total: sent, spanMs, latencies: since(run.came), direct: direct === null ? NOTHING : since(run.direct) }
  }

  #checking(subscriptions: ReadonlyMap<number, number>): TradeChecks {
    return new TradeChecks(this.#trades, subscriptions, number => this.#note(number))
  }

  #note(number: number): void {
    this.#received += 1
    this.#receivedAt = performance.now()
    const { came, first } = this.#run ?? NO_RUN
    if (number - first < came.length) came[number - first] = this.#receivedAt
    if (this.#wake !== null && this.#received >= this.#wake.at) this.#wake.up()
  }

  /** A message of the sandbox has all trades that were sent at once. */
  #onDirectMessage(bytes: Buffer, start: number, end: number): void {
    const found = bytes.indexOf(AT, start)
    if (this.#run === null || found === -1 || found > end) return
    const at = found + AT.length
    const number = this.#trades.numberAt(Number(bytes.toString('latin1', at, at + MICROS_DIGITS)))
    const from = number - this.#run.first
    this.#run.direct.fill(performance.now(), from, from + this.#run.batch)
  }

  async #receivedUpTo(count: number, failure: () => string | null): Promise<void> {
    if (this.#received >= count) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const patience = setTimeout(resolve, ARRIVAL_MS)
    this.#wake = { at: count, up: resolve }
    await promise
    clearTimeout(patience)
    this.#wake = null
    if (this.#received < count)
      throw new Error(`${this.#received} of ${count} trades arrived within ${ARRIVAL_MS} ms (${failure() ?? 'the session is open'})`)
  }

  async #directly(sent: number, came: Float64Array): Promise<void> {
    const deadline = performance.now() + ARRIVAL_MS
    while (came[sent - 1] === 0) {
      if (performance.now() > deadline) throw new Error('the listener at the front missed the last trades')
      await pause(10)
    }
  }
}

const NO_RUN = { first: 0, came: NOTHING }
