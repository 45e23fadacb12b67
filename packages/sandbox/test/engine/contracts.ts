/** The small brokerage with options on AAPL and on an index, a futures month, and accounts for them. */
import assert from 'node:assert/strict'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type {
  EngineEvent,
  EngineSettings,
  InstrumentSpec,
  OrderView,
  Phase,
  QuoteLevel,
  SubmitMultiLegCommand,
  TransactionView
} from '../../src/engine/types.ts'
import { orderOf, World } from './world.ts'

const HOUR = 3_600_000_000
/** Days after {@link START} to the last trades: Friday 2026-03-20 and 2026-04-17, 16:00 New York. */
export const NEAR = { date: '2026-03-20', at: Date.UTC(2026, 2, 20, 20) * 1_000 }
export const FAR = { date: '2026-04-17', at: Date.UTC(2026, 3, 17, 20) * 1_000 }

/** `C105` of the near month, `C105+` of the far one, as an OCC symbol. */
export function contract(name: string, root = 'AAPL'): string {
  const { date } = name.endsWith('+') ? FAR : NEAR
  const strike = String(Number.parseInt(name.slice(1), 10) * 1_000).padStart(8, '0')
  return `${root}${date.slice(2).replaceAll('-', '')}${name[0]}${strike}`
}

export function optionSpec(name: string, root = 'AAPL', style: 'american' | 'european' = 'american'): InstrumentSpec {
  const { date, at } = name.endsWith('+') ? FAR : NEAR
  return {
    symbol: contract(name, root),
    kind: 'OPT',
    name: `${root} ${name}`,
    currency: 'USD',
    market: 'us-option',
    tick: '0.01',
    tickBelowOne: null,
    lot: '1',
    fraction: '1',
    multiplier: '100',
    shortable: true,
    auctions: false,
    settlementDays: 1,
    margin: { initial: 10_000, maintenanceLong: 10_000, maintenanceShort: 10_000 },
    fees: { buy: 0, sell: 0 },
    option: {
      underlying: root,
      right: name.startsWith('C') ? 'call' : 'put',
      strike: String(Number.parseInt(name.slice(1), 10)),
      expiration: date,
      lastTradeAt: at,
      style,
      settlement: root === 'AAPL' ? 'physical' : 'cash'
    }
  }
}

export function futureSpec(symbol: string): InstrumentSpec {
  const { option: _, ...row } = optionSpec('C100')
  return {
    ...row,
    symbol,
    kind: 'FUT',
    name: `${symbol} future`,
    market: 'cme',
    tick: '0.25',
    multiplier: '50',
    settlementDays: 0,
    future: { root: 'ES', month: '2026-03', lastTradeAt: NEAR.at - 6 * HOUR, initialMargin: '12000', maintenanceMargin: '10000' }
  }
}

export const NAMES = ['C95', 'C100', 'C105', 'C110', 'P90', 'P95', 'P100', 'P105', 'C105+', 'P95+'] as const
export const FUTURE = 'ESH26'

type LegText = `${'+' | '-'}${'o' | 'c'}${number | ''} ${string}`
type MultiLegTicket = Partial<Omit<SubmitMultiLegCommand, 'type' | 'at' | 'legs'>>

export class ContractWorld extends World {
  #multiLegs = 0

  constructor(settings: Partial<EngineSettings> = {}) {
    super(settings)
    for (const name of NAMES) this.do({ type: 'list_instrument', spec: optionSpec(name) })
    for (const name of ['C100', 'P100']) this.do({ type: 'list_instrument', spec: optionSpec(name, 'NDX', 'european') })
    this.do({ type: 'list_instrument', spec: futureSpec(FUTURE) })
    this.phases('open', '2026-03-02')
    for (const id of ['f1', 'f2']) this.account(id, 'futures', '50000')
    this.quote([['99.99', '1000']], [['100.01', '1000']])
  }

  phases(phase: Phase, tradingDate: string): void {
    for (const market of ['us-option', 'cme']) this.do({ type: 'session', market, phase, tradingDate })
  }

  /** Quotes of an option: `2.00 x 2.10`. */
  offer(name: string, bid: string, ask: string, size = '50', root = 'AAPL'): EngineEvent[] {
    const level = (price: string): QuoteLevel => [price, size]
    return this.quote([level(bid)], [level(ask)], contract(name, root))
  }

  /** `+o C105`: buy to open one; `-c2 P95`: sell to close two in each unit. By default a LMT DAY multi-leg order to buy. */
  package(legs: readonly LegText[], ticket: MultiLegTicket = {}): EngineEvent[] {
    const orderType = ticket.orderType ?? (ticket.limitPrice === undefined ? 'MKT' : 'LMT')
    return this.do({
      type: 'submit_package',
      accountId: 'm1',
      clientOrderId: `package-${++this.#multiLegs}`,
      side: 'BUY',
      timeInForce: 'DAY',
      quantity: '1',
      limitPrice: null,
      ...ticket,
      orderType,
      legs: legs.map(leg)
    })
  }

  /** The multi-leg order after the command; it must have been accepted. */
  taken(legs: readonly LegText[], ticket: MultiLegTicket = {}): OrderView {
    const order = this.again(orderOf(this.package(legs, ticket)))
    assert.notEqual(order.state, 'rejected', order.reason?.message ?? 'rejected')
    return order
  }

  /** The code of the multi-leg order's refusal or rejection. */
  refusal(legs: readonly LegText[], ticket: MultiLegTicket = {}): string | undefined {
    const [event] = this.package(legs, ticket)
    if (event?.type === 'refused') return event.code
    return event?.type === 'order' && event.change === 'rejected' ? event.order.reason?.code : undefined
  }

  units(name: string, accountId = 'm1'): string {
    return this.engine.position(accountId, contract(name))?.quantity ?? '0'
  }

  /** `TYPE quantity symbol amount` of the transactions that a command entered for the account. */
  entries(events: readonly EngineEvent[], accountId = 'm1'): string[] {
    return events.flatMap(event => (event.type === 'transaction' && event.accountId === accountId ? [entry(event.transaction)] : []))
  }
}

function leg(text: LegText) {
  const [how = '', name = ''] = text.split(' ')
  const buys = how.startsWith('+')
  const side: Side = how[1] === 'o' ? (buys ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN') : buys ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE'
  return { symbol: /\d{6}/.test(name) ? name : contract(name), side, ratio: how.slice(2) || '1' }
}

function entry({ type, quantity, symbol, amount }: TransactionView): string {
  return `${type} ${quantity ?? '-'} ${symbol ?? '-'} ${amount}`
}
