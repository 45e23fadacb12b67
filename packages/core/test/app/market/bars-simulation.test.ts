// Random trades, losses, late history and changing subscribers: each subscriber receives every bar once and correct.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketRefusal } from '@trunkline/core/app/market/refusal'
import { usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import type { Bar } from '@trunkline/core/domain/market/records'
import { SeededChance } from '@trunkline/testkit/chance'
import { MINUTE, RecordingWatcher, Stage, trade } from '@trunkline/testkit/market-stage'
import { ofSearch } from '@trunkline/testkit/search'
import { LateMarket } from './late-market.ts'

const SEEDS = Number(process.env.TRUNKLINE_BARS_SEEDS ?? ofSearch(60, 4))
const FIRST = Number(process.env.TRUNKLINE_BARS_FIRST_SEED ?? 1)
/** A Monday, fifteen minutes before the exchanges open. */
const START = Date.UTC(2026, 0, 5, 14, 15)
/** The difference between the clocks. */
const AHEAD_MS = 1_000
const LASTS_MS = 40 * MINUTE
const INTERVALS = ['1m', '2m', '5m', '15m', '1h'] as const
const SESSIONS = ['BrokerDefault', 'USEqCore'] as const

interface Subscriber {
  readonly received: RecordingWatcher
  readonly interval: string
  readonly session: (typeof SESSIONS)[number]
  readonly backfill: number
  /** The subscription's start and end. */
  readonly sinceMs: number
  untilMs: number
}

for (const kind of ['built from trades', 'the broker’s own'] as const) {
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
    test(`${kind}, seed ${seed}: every bar is sent once, ascending and correct`, async () => {
      await new Day(seed, kind === 'the broker’s own').run()
    })
  }
}

class Day {
  readonly #chance: SeededChance
  readonly #isOwn: boolean
  readonly #market = new LateMarket(START)
  readonly #stage: Stage
  readonly #subscribers: Subscriber[] = []
  #asking = 0
  #slowMs = 0
  #sentByBroker: Bar | null = null

  constructor(seed: number, isOwn: boolean) {
    this.#chance = new SeededChance(seed)
    this.#isOwn = isOwn
    this.#stage = new Stage({ historyIntervals: ['1m', '5m', '30m'], liveIntervals: isOwn ? ['1m'] : [] }, this.#market)
    this.#market.list('SPY', 'STK', usEquityCalendar())
    this.#market.way = () => this.#stage.clock.sleep(this.#chance.whole(0, this.#slowMs))
    this.#market.fails = () => this.#slowMs > 0 && this.#chance.happens(0.1)
  }

  async run(): Promise<void> {
    const chance = this.#chance
    const quiet = chance.whole(1, 40) / 1_000
    while (this.#market.nowMs < START + LASTS_MS) {
      await this.#pass(chance.whole(1, chance.oneOf([50, 2_000, 20_000]) ?? 1))
      // Most faults occur around the end of a minute.
      if (chance.happens(0.1)) await this.#pass(MINUTE - (this.#market.nowMs % MINUTE) + chance.whole(-300, 1_200))
      if (chance.happens(0.6)) this.#trade()
      if (chance.happens(0.05)) this.#slowMs = chance.oneOf([0, 0, 500, 4_000, 9_000]) ?? 0
      if (chance.happens(0.05)) this.#market.skewMs = chance.whole(-2_500, AHEAD_MS)
      if (chance.happens(0.05)) this.#market.lagMs = chance.oneOf([0, 0, 400, 1_500]) ?? 0
      if (chance.happens(quiet)) this.#toggleConnection()
      if (this.#subscribers.length + this.#asking < 12 && chance.happens(0.1)) this.#come()
      if (chance.happens(0.02)) this.#go()
    }
    this.#market.skewMs = 0
    this.#market.lagMs = 0
    this.#slowMs = 0
    if (!this.#market.answers) this.#toggleConnection()
    // To the middle of a minute: bars that are over by then have closed.
    await this.#pass(2.5 * MINUTE - (this.#market.nowMs % MINUTE))
    for (const subscriber of this.#subscribers) this.#check(subscriber)
    for (const { received } of this.#subscribers) received.end()
    await this.#pass(60_000)
    assert.equal(this.#market.open, 0, 'nothing is asked of the broker any more')
    assert.equal(this.#stage.clock.sleepers, 0, 'nobody waits for anything any more')
  }

  /** Advances the time; the broker's own bars are sent as they close. */
  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; ) {
      const step = Math.min(left, 1_000)
      left -= step
      this.#market.nowMs += step
      this.#sendOwn()
      await this.#stage.clock.advance(step)
      this.#stage.market.tick()
    }
  }

  #trade(): void {
    const at = this.#market.nowMs
    const cents = this.#chance.whole(10_000, 10_200)
    this.#market.happen('SPY', trade(at, (cents / 100).toFixed(2), String(this.#chance.whole(1, 500))))
    this.#sendOwn()
  }

  /** The broker's own bars since the last one sent, while the broker is connected. */
  #sendOwn(): void {
    const instrument = this.#market.instruments.get('SPY')
    if (!this.#isOwn || instrument === undefined) return
    const before = this.#sentByBroker
    for (const one of this.#market.minutes(instrument)) {
      if (before !== null && (one.startMs < before.startMs || JSON.stringify(one) === JSON.stringify(before))) continue
      if (before?.closed === true && one.startMs === before.startMs) continue
      this.#sentByBroker = one
      if (this.#market.answers) for (const { sink } of this.#market.topics('bars', 'SPY')) sink.bar(one)
    }
  }

  #toggleConnection(): void {
    this.#market.answers = !this.#market.answers
    if (this.#market.answers) this.#market.recover()
    else this.#market.lose()
  }

  #come(): void {
    const chance = this.#chance
    const interval = chance.oneOf(INTERVALS) ?? '1m'
    const session = chance.oneOf(SESSIONS) ?? 'BrokerDefault'
    const backfill = chance.happens(0.5) ? 0 : chance.whole(1, 12)
    this.#asking += 1
    this.#stage.market
      .watch({ channel: 'bars', symbol: 'SPY', interval, session, backfill })
      .then(
        watch => {
          const received = new RecordingWatcher(watch)
          received.begin()
          this.#subscribers.push({ received, interval, session, backfill, sinceMs: this.#market.nowMs, untilMs: Number.POSITIVE_INFINITY })
        },
        cause => assert.ok(cause instanceof MarketRefusal && cause.code === 'broker_unavailable', String(cause))
      )
      .finally(() => (this.#asking -= 1))
  }

  #go(): void {
    const subscriber = this.#chance.oneOf(this.#subscribers.filter(({ untilMs }) => untilMs === Number.POSITIVE_INFINITY))
    if (subscriber === undefined) return
    subscriber.received.end()
    subscriber.untilMs = this.#market.nowMs
  }

  #check({ received, interval, session, backfill, sinceMs, untilMs }: Subscriber): void {
    const instrument = this.#market.instruments.get('SPY')
    assert.ok(instrument !== undefined)
    const who = `${interval} ${session} backfill ${backfill} from ${new Date(sinceMs).toISOString()} to ${untilMs === Number.POSITIVE_INFINITY ? 'the end' : new Date(untilMs).toISOString()}`
    let last: Bar | null = null
    for (const one of received.bars) {
      if (last !== null) {
        const follows: boolean = last.closed ? one.startMs > last.startMs : one.startMs === last.startMs
        assert.ok(follows, `${who}: ${shown(one)} came after ${shown(last)}`)
      }
      last = one
    }
    const truth = this.#market.truth(instrument, interval, session).filter(({ closed }) => closed)
    const seen = received.closed
    const lengthMs = Number(interval.slice(0, -1)) * (interval.endsWith('h') ? 60 : 1) * MINUTE
    // As many as were requested before the bar in progress at the start, and that one.
    const underWay = truth.findIndex(({ startMs }) => startMs + lengthMs > sinceMs + AHEAD_MS)
    const first = truth.at(Math.max(0, (underWay < 0 ? truth.length : underWay) - backfill))?.startMs
    const from = Math.min(seen[0]?.startMs ?? Number.POSITIVE_INFINITY, first ?? Number.POSITIVE_INFINITY)
    const upTo = untilMs === Number.POSITIVE_INFINITY ? untilMs : (seen.at(-1)?.startMs ?? from - 1) + 1
    const expected = truth.filter(({ startMs }) => startMs >= from && startMs < upTo)
    assert.deepEqual(seen.map(shown), expected.map(shown), who)
  }
}

function shown({ startMs, open, high, low, close, volume, closed }: Bar): string {
  return `${new Date(startMs).toISOString().slice(11, 16)} ${open} ${high} ${low} ${close} ${volume} ${closed ? 'closed' : 'open'}`
}
