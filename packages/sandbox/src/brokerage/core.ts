/** The parts of the sandbox that need no port: customers, state, market, and the publishers of events. */

import { join } from 'node:path'
import type { SandboxConfig } from '../config.ts'
import { openMarket } from '../market/index.ts'
import { parseMarketSetting } from '../market/setting.ts'
import { Envelope } from './api/envelope.ts'
import { BrokerageClock, isoOf } from './clock.ts'
import { Contracts } from './contracts.ts'
import { Counters } from './counters.ts'
import { Customers } from './customers.ts'
import { EventPublisher } from './event-publisher.ts'
import { Faults } from './faults.ts'
import { listInstruments, mustSuit, openNewAccounts, permitOptions } from './ledger.ts'
import { MarketDataTaps } from './market-data-taps.ts'
import { MarketDriver, type MarketListener } from './market-driver.ts'
import { Feed } from './market-stream/feed.ts'
import { MarketHub } from './market-stream/hub.ts'
import type { GrantStore } from './oauth/grants.ts'
import { OrderService } from './order-service.ts'
import { BrokerageState } from './state.ts'
import { Hub } from './stream/hub.ts'
import type { Timers } from './timers.ts'

export interface CoreDeps {
  /** Milliseconds since the epoch. */
  readonly realNow: () => number
  readonly newId: () => string
  readonly onError: (error: unknown) => void
  readonly timers: Timers
}

export type Core = Awaited<ReturnType<typeof openCore>>

export async function openCore(config: SandboxConfig, deps: CoreDeps, undo: (() => unknown)[]) {
  const setting = parseMarketSetting(config.market)
  const market = await openMarket(config.market, { seed: config.seed, calendar: config.calendar })
  undo.push(() => market[Symbol.asyncDispose]())
  const customers = new Customers(config.seed, inFolder(config, 'people.jsonl'))
  undo.push(() => customers.close())
  const state: BrokerageState = new BrokerageState({
    folder: config.dataDir,
    newSeed: () => `${config.seed} ${deps.newId()}`,
    onEvents: events => publisher.publish(events),
    onError: deps.onError
  })
  undo.push(() => state.close())
  mustSuit(state, market)
  const speed = setting.kind === 'replay' ? (setting.speed ?? config.speed) : 1
  const startsAt = Math.max(state.latest, market.startsAt ?? deps.realNow() * 1000)
  const clock = new BrokerageClock({ realNow: deps.realNow, startsAt, speed: speed === 'max' ? 1 : speed })
  const envelope = new Envelope(deps.realNow, clock)
  const faults = new Faults()
  const counters = new Counters()
  const passOf: { current: GrantStore['pass'] } = { current: () => undefined }
  const streams = {
    now: deps.realNow,
    stamp: () => envelope.stamp(),
    heartbeatMs: config.heartbeatMs,
    onError: deps.onError,
    pass: (token: string) => passOf.current(token)
  }
  const accountsOf = (login: string) => customers.accountsOf(login).map(({ id }) => id)
  const hub: Hub = new Hub({ ...streams, newEpoch: deps.newId, accountsOf })
  const publisher: EventPublisher = new EventPublisher({ state, customers, hub })
  const orderService = new OrderService({
    state,
    customers,
    publisher,
    clock,
    newId: deps.newId,
    later: (ms, work) => deps.timers.later(ms, work)
  })
  const { onError, realNow: now } = deps
  const feed: Feed = new Feed({ market, clock, now, onError, contracts: () => contracts, lastQuote: symbol => driver.lastQuote(symbol) })
  const taps: MarketDataTaps = new MarketDataTaps({
    ...{ now, onError },
    hold: symbols => contracts.hold(symbols),
    release: symbols => contracts.release(symbols),
    lastQuote: symbol => driver.lastQuote(symbol),
    openBar: (symbol, through) => feed.openBar(symbol, through)
  })
  const driver: MarketDriver = new MarketDriver({ market, state, clock, listener: both(feed, taps), atFullSpeed: speed === 'max', onError })
  const contracts: Contracts = new Contracts({ market, state, customers, clock, driver, now })
  undo.push(() => contracts.close())
  // During a jump of its clock, clients see the time that the sandbox has reached.
  const sandboxTime = () => isoOf(Math.min(clock.now(), driver.reached))
  const marketHub = new MarketHub({
    ...streams,
    sandboxTime,
    add: (wanted, reader) => feed.add(wanted, reader),
    drop: (wanted, reader) => feed.drop(wanted, reader)
  })
  const openAccounts = () => openNewAccounts({ customers, state, clock })
  listInstruments({ market, state, clock })
  contracts.sweep()
  await driver.start()
  undo.push(() => driver.stop())
  openAccounts()
  permitOptions({ customers, state, clock })
  return {
    market,
    customers,
    state,
    clock,
    envelope,
    faults,
    counters,
    hub,
    marketHub,
    publisher,
    orderService,
    driver,
    taps,
    contracts,
    openAccounts,
    passOf
  }
}

function both(first: MarketListener, second: MarketListener): MarketListener {
  return {
    get busy() {
      return first.busy || second.busy
    },
    onCommand(command) {
      first.onCommand(command)
      second.onCommand(command)
    },
    reach(through) {
      first.reach(through)
      second.reach(through)
    }
  }
}

/** A file of the data folder; null without one. */
export function inFolder({ dataDir }: SandboxConfig, name: string): string | null {
  return dataDir === null ? null : join(dataDir, name)
}
