/** Everything of the house that needs no port: people, books, market, and who hears of what. */

import { join } from 'node:path'
import type { HouseConfig } from '../config.ts'
import { openMarket } from '../market/index.ts'
import { parseMarketSetting } from '../market/setting.ts'
import { Envelope } from './api/envelope.ts'
import { Books } from './books.ts'
import { HouseClock, isoOf } from './clock.ts'
import { Contracts } from './contracts.ts'
import { Counters } from './counters.ts'
import { Desk } from './desk.ts'
import { Faults } from './faults.ts'
import { listInstruments, mustSuit, openNewAccounts, permitOptions } from './ledger.ts'
import { Feed } from './market-stream/feed.ts'
import { MarketHub } from './market-stream/hub.ts'
import { News } from './news.ts'
import type { GrantStore } from './oauth/grants.ts'
import { People } from './people.ts'
import { type Listener, Pump } from './pump.ts'
import { Hub } from './stream/hub.ts'
import { Taps } from './taps.ts'
import type { Timers } from './timers.ts'

export interface CoreDeps {
  /** Milliseconds since the epoch. */
  readonly realNow: () => number
  readonly newId: () => string
  readonly onTrouble: (error: unknown) => void
  readonly timers: Timers
}

export type Core = Awaited<ReturnType<typeof openCore>>

export async function openCore(config: HouseConfig, deps: CoreDeps, undo: (() => unknown)[]) {
  const setting = parseMarketSetting(config.market)
  const market = await openMarket(config.market, { seed: config.seed, calendar: config.calendar })
  undo.push(() => market[Symbol.asyncDispose]())
  const people = new People(config.seed, inFolder(config, 'people.jsonl'))
  undo.push(() => people.close())
  const books: Books = new Books({
    folder: config.dataDir,
    newSeed: () => `${config.seed} ${deps.newId()}`,
    onEvents: events => news.tell(events),
    onTrouble: deps.onTrouble
  })
  undo.push(() => books.close())
  mustSuit(books, market)
  const speed = setting.kind === 'replay' ? (setting.speed ?? config.speed) : 1
  const startsAt = Math.max(books.latest, market.startsAt ?? deps.realNow() * 1000)
  const clock = new HouseClock({ realNow: deps.realNow, startsAt, speed: speed === 'max' ? 1 : speed })
  const envelope = new Envelope(deps.realNow, clock)
  const faults = new Faults()
  const counters = new Counters()
  const passOf: { current: GrantStore['pass'] } = { current: () => undefined }
  const streams = {
    now: deps.realNow,
    stamp: () => envelope.stamp(),
    heartbeatMs: config.heartbeatMs,
    onTrouble: deps.onTrouble,
    pass: (token: string) => passOf.current(token)
  }
  const accountsOf = (login: string) => people.accountsOf(login).map(({ id }) => id)
  const hub: Hub = new Hub({ ...streams, newEpoch: deps.newId, accountsOf })
  const news: News = new News({ books, people, hub })
  const desk = new Desk({ books, people, news, clock, newId: deps.newId, later: (ms, work) => deps.timers.later(ms, work) })
  const { onTrouble, realNow: now } = deps
  const feed: Feed = new Feed({ market, clock, now, onTrouble, contracts: () => contracts, lastQuote: symbol => pump.lastQuote(symbol) })
  const taps: Taps = new Taps({
    ...{ now, onTrouble },
    hold: symbols => contracts.hold(symbols),
    release: symbols => contracts.release(symbols),
    lastQuote: symbol => pump.lastQuote(symbol),
    openBar: (symbol, through) => feed.openBar(symbol, through)
  })
  const pump: Pump = new Pump({ market, books, clock, listener: both(feed, taps), atFullSpeed: speed === 'max', onTrouble })
  const contracts: Contracts = new Contracts({ market, books, people, clock, pump, now })
  undo.push(() => contracts.close())
  // While the house lives through a jump of its clock, the market is told of up to where it has come.
  const houseTime = () => isoOf(Math.min(clock.now(), pump.reached))
  const marketHub = new MarketHub({
    ...streams,
    houseTime,
    add: (wanted, reader) => feed.add(wanted, reader),
    drop: (wanted, reader) => feed.drop(wanted, reader)
  })
  const openAccounts = () => openNewAccounts({ people, books, clock })
  listInstruments({ market, books, clock })
  contracts.sweep()
  await pump.start()
  undo.push(() => pump.stop())
  openAccounts()
  permitOptions({ people, books, clock })
  return {
    market,
    people,
    books,
    clock,
    envelope,
    faults,
    counters,
    hub,
    marketHub,
    news,
    desk,
    pump,
    taps,
    contracts,
    openAccounts,
    passOf
  }
}

function both(first: Listener, second: Listener): Listener {
  return {
    get busy() {
      return first.busy || second.busy
    },
    hear(command) {
      first.hear(command)
      second.hear(command)
    },
    reach(through) {
      first.reach(through)
      second.reach(through)
    }
  }
}

/** A file of the data folder; null without one. */
export function inFolder({ dataDir }: HouseConfig, name: string): string | null {
  return dataDir === null ? null : join(dataDir, name)
}
