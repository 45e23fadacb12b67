/** A contract case: one numbered requirement about market data, and what checking it needs. */

import assert from 'node:assert/strict'
import { compare, type Decimal, plus } from '@trunkline/core/domain/decimal'
import { type Bar, type ChainEntry, type Depth, msOfNanos, type Quote, type Trade } from '@trunkline/core/domain/market/records'
import type { MarketDataCapabilities } from '@trunkline/core/ports/broker'
import type { GapCause } from '@trunkline/core/ports/gap'
import type { BarsRequest, MarketSource, Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { soon } from '../patience.ts'
import { until } from '../until.ts'
import type { MarketHarness } from './harness.ts'

export interface ContractCase {
  /** `M10`, `M20`, …: spaced, so that one can be put between. */
  readonly id: string
  readonly title: string
  /** Why this case does not apply to a broker with these capabilities; null when it does. */
  readonly notOffered?: (capabilities: MarketDataCapabilities) => string | null
  readonly run: (harness: MarketHarness) => Promise<void>
}

export const MINUTE_MS = 60_000

export { soon }

export function offers(channel: MarketDataCapabilities['channels'][number]): NonNullable<ContractCase['notOffered']> {
  return ({ channels }) => (channels.includes(channel) ? null : `the broker streams no ${channel}`)
}

/** Streams one topic and records what it receives; disposing it ends that. */
export class Watcher implements TopicSink, Disposable {
  /** `live`, `lost <cause>`, `refused`, and the kinds of events, in order. */
  readonly history: string[] = []
  readonly trades: Trade[] = []
  readonly quotes: Quote[] = []
  readonly depths: Depth[] = []
  readonly bars: Bar[] = []
  readonly entries: ChainEntry[] = []
  readonly lease: TopicLease
  readonly #patienceMs: number

  constructor({ market, patienceMs }: Pick<MarketHarness, 'market' | 'patienceMs'>, topic: Topic) {
    this.#patienceMs = patienceMs
    this.lease = market.stream(topic, this)
  }

  live(): void {
    this.history.push('live')
  }

  lost(cause: GapCause): void {
    this.history.push(`lost ${cause}`)
  }

  refused(message: string): void {
    assert.notEqual(message.trim(), '')
    this.history.push('refused')
  }

  trade(trade: Trade): void {
    this.trades.push(trade)
    this.history.push('trade')
  }

  quote(quote: Quote): void {
    this.quotes.push(quote)
    this.history.push('quote')
  }

  depth(depth: Depth): void {
    this.depths.push(depth)
    this.history.push('depth')
  }

  bar(bar: Bar): void {
    this.bars.push(bar)
    this.history.push('bar')
  }

  chain(entry: ChainEntry): void {
    this.entries.push(entry)
    this.history.push('chain')
  }

  count(kind: string): number {
    return this.history.filter(each => each === kind).length
  }

  /** Losses published, whatever their cause. */
  get losses(): number {
    return this.history.filter(kind => kind.startsWith('lost')).length
  }

  async receives(kind: string, times = 1): Promise<void> {
    await this.reaches(() => this.count(kind) >= times, `${times} × ${kind}`)
  }

  async reaches(condition: () => boolean, what: string): Promise<void> {
    const soFar = () => `${what}; received ${this.history.slice(0, 20).join(', ')} … ${this.history.slice(-5).join(', ')}`
    await until(condition, what, this.#patienceMs).catch((cause: unknown) => {
      throw new Error(soFar(), { cause })
    })
  }

  [Symbol.dispose](): void {
    this.lease[Symbol.dispose]()
  }
}

/** All pages of a request as one list. */
export async function barsOf(market: MarketSource, request: BarsRequest): Promise<readonly Bar[]> {
  const bars: Bar[] = []
  for await (const page of market.bars(request, soon())) bars.push(...page)
  return bars
}

/** The 1-minute bars that trades make, by the rule of their effects. */
export function barsFrom(trades: readonly Trade[]): ReadonlyMap<number, Omit<Bar, 'closed'>> {
  const bars = new Map<number, Omit<Bar, 'closed'>>()
  for (const { price, size, at, effect } of trades) {
    const startMs = Math.floor(msOfNanos(at) / MINUTE_MS) * MINUTE_MS
    const bar = bars.get(startMs)
    if (effect === 'all' && bar === undefined)
      bars.set(startMs, { startMs, open: price, high: price, low: price, close: price, volume: size })
    if (bar === undefined || effect === 'none') continue
    const volume = plus(bar.volume, size)
    bars.set(
      startMs,
      effect === 'volume'
        ? { ...bar, volume }
        : { ...bar, volume, close: price, high: larger(bar.high, price), low: smaller(bar.low, price) }
    )
  }
  return bars
}

/** The same figures, however they are written. */
export function sameFigures(a: Omit<Bar, 'closed'>, b: Omit<Bar, 'closed'>, what: string): void {
  assert.equal(a.startMs, b.startMs, what)
  for (const figure of ['open', 'high', 'low', 'close', 'volume'] as const)
    assert.equal(
      compare(a[figure], b[figure]),
      0,
      `${what}: ${figure} is ${a[figure]} and ${b[figure]} in ${new Date(a.startMs).toISOString()}`
    )
}

function larger(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) < 0 ? b : a
}

function smaller(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) > 0 ? b : a
}
