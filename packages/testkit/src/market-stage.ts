// A connection's market over a broker in memory and a virtual clock.
import { ConnectionMarket } from '@trunkline/core/app/market/connection-market'
import type { Watch, Watcher, WatchRequest } from '@trunkline/core/app/market/watcher'
import { WorkQueue } from '@trunkline/core/app/market/work-queue'
import { DEFAULT_TIMING } from '@trunkline/core/app/timing'
import type { Decimal } from '@trunkline/core/domain/decimal'
import { type Bar, nanosOfMs, type Quote, type Trade } from '@trunkline/core/domain/market/records'
import type { MarketDataCapabilities } from '@trunkline/core/ports/broker'
import { SCRIPTED_CAPABILITIES, ScriptedMarket } from '@trunkline/testkit/scripted-broker/index'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'

const meter = { count() {}, observe() {} }
/** A Monday, 15:00 UTC. */
export const NOON = Date.UTC(2026, 0, 5, 15)
export const MINUTE = 60_000

export class Stage {
  readonly clock: VirtualClock
  readonly broker: ScriptedMarket
  readonly losses: string[] = []
  readonly warnings: string[] = []
  readonly market: ConnectionMarket

  constructor(
    marketData: Partial<MarketDataCapabilities> = {},
    broker = new ScriptedMarket(NOON),
    clock = new VirtualClock(broker.nowMs),
    workQueue = new WorkQueue<object>(clock)
  ) {
    this.clock = clock
    this.broker = broker
    this.broker.list('SPY')
    this.broker.list('BTC/USD', 'CRYPTO')
    this.broker.history.set('SPY 1m', [])
    const capabilities = {
      ...SCRIPTED_CAPABILITIES,
      sessions: ['BrokerDefault', 'USEqCore', 'USEqPreMkt'],
      marketData: {
        channels: ['bars', 'trades', 'quotes', 'depth', 'options_chain'],
        historyIntervals: ['1m', '1d'],
        historyDays: {},
        dailyBars: 'all_hours',
        dailySessions: [],
        liveIntervals: [],
        liveVolume: 'all',
        symbolSearch: true,
        backfillMax: 1_000,
        historyLagMs: 0,
        everyTrade: true,
        streamNumbered: true,
        connections: 'one',
        ...marketData
      }
    } as const
    this.market = new ConnectionMarket(
      {
        clock: this.clock,
        log: { debug() {}, info() {}, warn: message => this.warnings.push(message), error() {} },
        meter,
        timing: DEFAULT_TIMING,
        nextSlice: signal => workQueue.take(this, signal)
      },
      { source: this.broker, broker: capabilities, failed: async () => false, lost: cause => this.losses.push(cause) }
    )
  }

  /** Watches, and begins. */
  async watch(request: WatchRequest): Promise<RecordingWatcher> {
    const received = new RecordingWatcher(await this.market.watch(request))
    received.begin()
    return received
  }

  /** The market's time and everybody's goes on, with the look that is taken every second. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      const step = Math.min(left, 1_000)
      await this.clock.advance(step)
      this.broker.nowMs += step
      this.market.tick()
    }
    await this.clock.settled()
  }
}

/** Records what a watcher receives. */
export class RecordingWatcher implements Watcher {
  readonly trades: Trade[] = []
  readonly quotes: Quote[] = []
  readonly bars: Bar[] = []
  readonly interruptions: string[] = []
  readonly #watch: Watch

  constructor(watch: Watch) {
    this.#watch = watch
  }

  begin(): void {
    this.#watch.begin(this)
  }

  end(): void {
    this.#watch.end()
  }

  get closed(): readonly Bar[] {
    return this.bars.filter(({ closed }) => closed)
  }

  trade(trade: Trade): void {
    this.trades.push(trade)
  }

  quote(quote: Quote): void {
    this.quotes.push(quote)
  }

  depth(): void {}
  chain(): void {}

  bar(bar: Bar): void {
    this.bars.push(bar)
  }

  interrupted(reason: string): void {
    this.interruptions.push(reason)
  }
}

export const decimal = (text: string): Decimal => text as Decimal

export function trade(atMs: number, price: string, size = '1'): Trade {
  return { price: decimal(price), size: decimal(size), venue: '', at: nanosOfMs(atMs), effect: 'all' }
}

export function quote(bid: string, atMs = NOON): Quote {
  return { bidPrice: decimal(bid), bidSize: decimal('1'), askPrice: null, askSize: null, at: nanosOfMs(atMs) }
}

/** A bar whose four prices are one. */
export function bar(startMs: number, price: string, closed = true, volume = '10'): Bar {
  const value = decimal(price)
  return { startMs, open: value, high: value, low: value, close: value, volume: decimal(volume), closed }
}
