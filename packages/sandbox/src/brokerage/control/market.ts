/** The control API's routes for the clock, the prices and the sessions. */

import { type Decimal, isDecimal, isPositive } from '@trunkline/core/domain/decimal'
import { ASSET_CLASSES, crossing, misorder, PHASES } from '../../control-terms.ts'
import { type Market, UnknownSymbol } from '../../market/types.ts'
import { CLASS_MARKETS } from '../api/calendar.ts'
import { type BrokerageClock, isoOf } from '../clock.ts'
import type { Contracts } from '../contracts.ts'
import type { MarketDriver } from '../market-driver.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { BrokerageState } from '../state.ts'
import { quoteWire } from '../wire.ts'
import type { ControlCall, ControlRoute } from './server.ts'

export interface MarketControlDeps {
  readonly clock: BrokerageClock
  readonly market: Market
  readonly driver: MarketDriver
  readonly state: BrokerageState
  readonly contracts: Contracts
}

const DAY_MS = 24 * 3600 * 1000
/** Maximum days of one jump, because each is simulated. */
const JUMP_DAYS_MAX = 366

export function marketRoutes(deps: MarketControlDeps): readonly ControlRoute[] {
  return [
    { method: 'GET', path: '/clock', handle: () => clockShown(deps) },
    { method: 'PUT', path: '/clock', handle: call => setClock(deps, call) },
    { method: 'GET', path: '/market/:id', handle: call => showSymbol(deps, call) },
    { method: 'PUT', path: '/market/:id', handle: call => moveSymbol(deps, call) },
    { method: 'PUT', path: '/market', handle: call => moveMarket(deps, call) },
    { method: 'POST', path: '/dividends', handle: call => payDividend(deps, call) }
  ]
}

export function clockShown({ clock, market }: MarketControlDeps): object {
  const now = clock.now()
  const phases = Object.fromEntries(ASSET_CLASSES.map(name => [name, market.phaseAt(CLASS_MARKETS[name], now).phase]))
  const paused = market.control.isPaused(now)
  return { clock: { sandbox_time: isoOf(now), frozen: clock.frozen, market: market.kind, paused, ...phases } }
}

async function setClock(deps: MarketControlDeps, { body }: ControlCall): Promise<object> {
  const { clock, driver } = deps
  const fields = new Fields(body, ['set', 'advance_ms', 'frozen'])
  const frozen = fields.flagOr('frozen')
  const advance = fields.countOr('advance_ms', 0, JUMP_DAYS_MAX * DAY_MS)
  if (advance !== null && fields.has('set'))
    throw new Problem('bad_request', 'set and advance_ms are two ways to say the same: send one of them', { field: 'advance_ms' })
  const to = fields.timeOr('set') ?? (advance === null ? null : clock.now() + advance * 1000)
  const now = clock.now()
  if (to !== null && (to < now || to - now > JUMP_DAYS_MAX * DAY_MS * 1000))
    throw new Problem('bad_request', `sandbox time is ${isoOf(now)}; it can only go forward, at most ${JUMP_DAYS_MAX} days at once`, {
      field: 'set'
    })
  if (frozen !== null) clock.freeze(frozen)
  if (to !== null) clock.jump(Math.max(to, clock.now()))
  await driver.now()
  return clockShown(deps)
}

async function showSymbol({ driver, state, contracts }: MarketControlDeps, { param: symbol }: ControlCall): Promise<object> {
  await contracts.bring([symbol])
  await driver.now()
  const shown = state.engine.market(symbol)
  if (shown === undefined) throw new UnknownSymbol(symbol)
  return { quote: quoteWire(shown) }
}

async function moveSymbol(
  { clock, market, driver, state, contracts }: MarketControlDeps,
  { param: symbol, body }: ControlCall
): Promise<object> {
  const fields = new Fields(body, ['price', 'halted', 'bids', 'asks'])
  const price = fields.decimalOr('price')
  const halted = fields.flagOr('halted')
  const [bids, asks] = [levelsOf(fields, 'bids'), levelsOf(fields, 'asks')]
  const fault = crossing(pricesOf(bids), pricesOf(asks))
  if (fault !== null) throw new Problem('bad_request', `bids ${fault}`, { field: 'bids' })
  demandOrder('bids', bids)
  demandOrder('asks', asks)
  await contracts.bring([symbol])
  if (price !== null) market.control.setPrice(symbol, price, clock.now())
  if (halted !== null) market.control.setHalted(symbol, halted, clock.now())
  await driver.afresh()
  if (state.engine.market(symbol) === undefined) throw new UnknownSymbol(symbol)
  if (bids !== null || asks !== null) driver.show({ type: 'quote', at: clock.now(), symbol, bids: bids ?? [], asks: asks ?? [] })
  const shown = state.engine.market(symbol)
  if (shown === undefined) throw new UnknownSymbol(symbol)
  return { quote: quoteWire(shown) }
}

type Level = readonly [price: Decimal, size: Decimal]

/** `[["499.99", "5"]]`, best first. */
function levelsOf(fields: Fields, name: string): readonly Level[] | null {
  const levels = fields.listOr(name)
  if (levels === null) return null
  return levels.map((level): Level => {
    const [price, size, ...more]: readonly unknown[] = Array.isArray(level) ? level : []
    if (isDecimal(price) && isDecimal(size) && isPositive(price) && isPositive(size) && more.length === 0) return [price, size]
    throw new Problem('bad_request', `${name} is a list of [price, size], best first, both positive and as text`, { field: name })
  })
}

function demandOrder(side: 'bids' | 'asks', levels: readonly Level[] | null): void {
  const fault = misorder(side, pricesOf(levels))
  if (fault !== null) throw new Problem('bad_request', `${side} ${fault}`, { field: side })
}

function pricesOf(levels: readonly Level[] | null): readonly Decimal[] {
  return (levels ?? []).map(([price]) => price)
}

async function moveMarket(deps: MarketControlDeps, { body }: ControlCall): Promise<object> {
  const { clock, market, driver } = deps
  const fields = new Fields(body, ['phase', 'class', 'paused'])
  const phase = fields.memberOr('phase', PHASES)
  const group = CLASS_MARKETS[fields.memberOr('class', ASSET_CLASSES) ?? 'share']
  const paused = fields.flagOr('paused')
  if (phase !== null) market.control.forcePhase(group, phase === 'calendar' ? null : phase, clock.now())
  if (paused !== null) market.control.setPaused(paused, clock.now())
  await driver.afresh()
  return clockShown(deps)
}

function payDividend({ state, clock }: MarketControlDeps, { body }: ControlCall): object {
  const fields = new Fields(body, ['symbol', 'per_share'])
  const symbol = fields.text('symbol')
  const amountPerUnit = fields.decimalOr('per_share')
  if (amountPerUnit === null) throw new Problem('bad_request', 'per_share is missing', { field: 'per_share' })
  if (state.engine.market(symbol) === undefined) throw new UnknownSymbol(symbol)
  const events = state.run({ type: 'dividend', at: clock.now(), symbol, amountPerUnit })
  return { paid: events.filter(({ type }) => type === 'transaction').length }
}
