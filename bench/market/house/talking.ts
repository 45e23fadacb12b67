import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { RawSocket } from '../../stream/client/raw-socket.ts'
import { TradeChecks } from '../client/trade-checks.ts'
import type { Talk, Talked } from '../desk-questions.ts'
import { type MarketStreams, READERS, type Reader } from './streams.ts'
import type { Trades } from './trades.ts'

/** So many trades are told in one turn at most. */
const TURN_TRADES = 1_000
/** So long may trades be under way. */
const ARRIVAL_MS = 30_000
const AT = Buffer.from('"at":"')
const MICROS_DIGITS = 16
const NOTHING = new Float64Array(0)

/** Tells trades to one reader of the market stream, at a rate or as fast as they are heard at the other end, and notes when each was heard. */
export class Talking {
  readonly #streams: MarketStreams
  readonly #reader: Reader
  readonly #trades: Trades
  #checks: TradeChecks
  /** The number of the next trade, over all runs. */
  #next = 0
  #heard = 0
  #heardAt = 0
  /** By the number of the trade less the run's first. */
  #run: { readonly first: number; readonly came: Float64Array; readonly direct: Float64Array; readonly batch: number } | null = null
  #wake: { readonly at: number; readonly up: () => void } | null = null

  constructor(streams: MarketStreams, reader: Reader, trades: Trades) {
    this.#streams = streams
    this.#reader = reader
    this.#trades = trades
    this.#checks = this.#checking(new Map())
  }

  /** @param subscriptions the symbol's place of each, by `sub_id` */
  expect(subscriptions: ReadonlyMap<number, number>): void {
    this.#checks = this.#checking(subscriptions)
  }

  hear(bytes: Buffer, start: number, end: number): void {
    this.#checks.hear(bytes, start, end)
  }

  /** Reads the front's own stream too. */
  async listenAt(url: string): Promise<RawSocket> {
    const socket = await RawSocket.open({ url, hear: (bytes, start, end) => this.#hearDirect(bytes, start, end) })
    socket.send(JSON.stringify({ op: 'login', token: READERS[1] }))
    return socket
  }

  /** @param trouble what has become of the client; null while all is well. @throws Error when a trade does not arrive, or not in order */
  async run({ seconds, batch, perSecond, windowMax }: Talk, trouble: () => string | null): Promise<Talked> {
    const reader = this.#streams.of(this.#reader)
    const direct = perSecond !== null && this.#streams.has('direct') ? this.#streams.of('direct') : null
    const stamps = perSecond === null ? 0 : Math.ceil(seconds * perSecond) + TURN_TRADES
    const toldAt = new Float64Array(stamps)
    const first = this.#next
    const run = { first, came: new Float64Array(stamps), direct: new Float64Array(direct === null ? 0 : stamps), batch }
    this.#run = run
    this.#heard = 0
    const started = performance.now()
    let told = 0
    for (let now = started; now < started + 1_000 * seconds; now = performance.now()) {
      const room = perSecond === null ? windowMax - (told - this.#heard) : ((now - started) * perSecond) / 1_000 - told
      const batches = reader.isBehind ? 0 : Math.floor(Math.min(room, TURN_TRADES) / batch)
      for (let each = 0; each < batches; each += 1) {
        const items = this.#trades.items(this.#next, batch)
        reader.say(items)
        direct?.say(items)
        this.#next += batch
      }
      const at = performance.now()
      if (perSecond !== null) toldAt.fill(at, told, told + batches * batch)
      told += batches * batch
      reader.flush()
      direct?.flush()
      if (batches > 0) await turn()
      else if (perSecond !== null) await pause(1)
      else await this.#heardUpTo(told - windowMax + TURN_TRADES, trouble)
    }
    await this.#heardUpTo(told, trouble)
    if (direct !== null) await this.#directly(told, run.direct)
    this.#run = null
    if (this.#checks.faults > 0)
      throw new Error(`${this.#checks.faults} trades did not come as they should, the first: ${this.#checks.first}`)
    const spanMs = this.#heardAt - started
    const since = (came: Float64Array) => came.subarray(0, told).map((at, number) => at - (toldAt[number] ?? Number.NaN))
    if (perSecond === null) return { total: told, spanMs, latencies: NOTHING, direct: NOTHING }
    return { total: told, spanMs, latencies: since(run.came), direct: direct === null ? NOTHING : since(run.direct) }
  }

  #checking(subscriptions: ReadonlyMap<number, number>): TradeChecks {
    return new TradeChecks(this.#trades, subscriptions, number => this.#note(number))
  }

  #note(number: number): void {
    this.#heard += 1
    this.#heardAt = performance.now()
    const { came, first } = this.#run ?? NO_RUN
    if (number - first < came.length) came[number - first] = this.#heardAt
    if (this.#wake !== null && this.#heard >= this.#wake.at) this.#wake.up()
  }

  /** A message of the house has as many trades as were told at once. */
  #hearDirect(bytes: Buffer, start: number, end: number): void {
    const found = bytes.indexOf(AT, start)
    if (this.#run === null || found === -1 || found > end) return
    const at = found + AT.length
    const number = this.#trades.numberAt(Number(bytes.toString('latin1', at, at + MICROS_DIGITS)))
    const from = number - this.#run.first
    this.#run.direct.fill(performance.now(), from, from + this.#run.batch)
  }

  async #heardUpTo(count: number, trouble: () => string | null): Promise<void> {
    if (this.#heard >= count) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const patience = setTimeout(resolve, ARRIVAL_MS)
    this.#wake = { at: count, up: resolve }
    await promise
    clearTimeout(patience)
    this.#wake = null
    if (this.#heard < count)
      throw new Error(`${this.#heard} trades came within ${ARRIVAL_MS} ms, ${count} should have (${trouble() ?? 'the session is open'})`)
  }

  async #directly(told: number, came: Float64Array): Promise<void> {
    const deadline = performance.now() + ARRIVAL_MS
    while (came[told - 1] === 0) {
      if (performance.now() > deadline) throw new Error('the listener at the front missed the last trades')
      await pause(10)
    }
  }
}

const NO_RUN = { first: 0, came: NOTHING }
