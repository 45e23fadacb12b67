/** A small brokerage for the engine's tests: two shares, one pair, open markets, a few accounts. */
import assert from 'node:assert/strict'
import { Engine } from '../../src/engine/engine.ts'
import type {
  AccountType,
  BalanceView,
  Command,
  EngineEvent,
  EngineSettings,
  FillView,
  InstrumentSpec,
  OrderView,
  Phase,
  PositionView,
  QuoteLevel,
  RefusedEvent,
  ReplaceCommand,
  SubmitCommand
} from '../../src/engine/types.ts'
import { listedInstruments } from '../../src/market/instruments.ts'

/** 2026-03-02T14:30:00Z, a Monday. */
export const START = 1_772_461_800_000_000

type OrderTicket = Partial<Omit<SubmitCommand, 'type' | 'at'>>
type Timeless<C> = C extends Command ? Omit<C, 'at'> : never

const BILLIONTH = '0.000000001'
const LISTED = new Map(listedInstruments('always').map(instrument => [instrument.symbol, instrument]))

function listed(symbol: string): InstrumentSpec {
  return LISTED.get(symbol) ?? assert.fail(`the sandbox does not list ${symbol}`)
}

export class World {
  engine: Engine
  now = START
  /** Commands and their events, oldest first, since the last {@link World.fresh}. */
  #fresh: (readonly [Command, EngineEvent[]])[] = []
  #orders = 0

  constructor(settings: Partial<EngineSettings> = {}) {
    this.engine = Engine.create(settings)
    this.do({ type: 'list_instrument', spec: listed('AAPL') })
    this.do({ type: 'list_instrument', spec: { ...listed('MSFT'), shortable: false } })
    this.do({ type: 'list_instrument', spec: { ...listed('BTC/USD'), lot: BILLIONTH, fraction: BILLIONTH } })
    this.phase('open', '2026-03-02')
    this.do({ type: 'session', market: 'crypto', phase: 'open', tradingDate: '2026-03-02' })
    for (const id of ['m1', 'm2', 'm3']) this.account(id, 'margin', '100000')
    this.account('c1', 'cash', '10000')
    this.account('k1', 'crypto', '50000')
  }

  account(accountId: string, accountType: AccountType, deposit: string): void {
    this.do({ type: 'open_account', accountId, number: `N-${accountId}`, accountType, currency: 'USD', deposit, permitted: null })
  }

  do(command: Timeless<Command>): EngineEvent[] {
    this.now += 1_000
    const whole: Command = { ...command, at: this.now }
    const events = this.engine.handle(whole)
    this.#fresh.push([whole, events])
    return events
  }

  /** The events since the last call. */
  fresh(): readonly (readonly [Command, EngineEvent[]])[] {
    const fresh = this.#fresh
    this.#fresh = []
    return fresh
  }

  phase(phase: Phase, tradingDate: string): EngineEvent[] {
    return this.do({ type: 'session', market: 'us-equity', phase, tradingDate })
  }

  quote(bids: readonly QuoteLevel[], asks: readonly QuoteLevel[], symbol = 'AAPL'): EngineEvent[] {
    return this.do({ type: 'quote', symbol, bids, asks })
  }

  print(price: string, size = '100', symbol = 'AAPL', auction: 'open' | 'close' | null = null): EngineEvent[] {
    return this.do({ type: 'trade', symbol, price, size, auction })
  }

  /** By default a market DAY order to buy 10 AAPL for `m1`. */
  submit(ticket: OrderTicket = {}): EngineEvent[] {
    const orderType = ticket.orderType ?? (ticket.limitPrice === undefined ? 'MKT' : 'LMT')
    return this.do({
      type: 'submit',
      accountId: 'm1',
      clientOrderId: `client-${++this.#orders}`,
      symbol: 'AAPL',
      side: 'BUY',
      timeInForce: 'DAY',
      quantity: ticket.notional === undefined ? '10' : null,
      notional: null,
      limitPrice: null,
      stopPrice: null,
      ...ticket,
      orderType
    })
  }

  /** Submits and returns the order after the command; it must not have been refused. */
  order(ticket: OrderTicket = {}): OrderView {
    const order = orderOf(this.submit(ticket))
    return this.again(order)
  }

  /** Submits and returns the code of the rejection or refusal; there must be one. */
  reject(ticket: OrderTicket): string {
    const [event] = this.submit(ticket)
    if (event?.type === 'refused') return event.code
    assert.equal(event?.type, 'order')
    assert.ok(event.type === 'order' && event.change === 'rejected' && event.order.reason !== null, 'the order was taken')
    return event.order.reason.code
  }

  again(order: OrderView): OrderView {
    const found = this.engine.order(order.accountId, { orderId: order.orderId })
    assert.ok(typeof found === 'object', `order ${order.orderId} is ${JSON.stringify(found)}`)
    return found
  }

  cancel(order: OrderView): EngineEvent[] {
    return this.do({ type: 'cancel', accountId: order.accountId, order: { orderId: order.orderId } })
  }

  replace(order: OrderView, change: Partial<ReplaceCommand>): EngineEvent[] {
    return this.do({
      type: 'replace',
      accountId: order.accountId,
      order: { orderId: order.orderId },
      newClientOrderId: `client-${++this.#orders}`,
      quantity: null,
      notional: null,
      limitPrice: null,
      stopPrice: null,
      ...change
    })
  }

  balance(accountId = 'm1'): BalanceView {
    return this.engine.balance(accountId)
  }

  position(symbol = 'AAPL', accountId = 'm1'): PositionView {
    const found = this.engine.position(accountId, symbol)
    assert.ok(found !== undefined, `${accountId} never had ${symbol}`)
    return found
  }

  /** Money and units of the whole engine sum to zero. */
  assertConserved(): void {
    const { cash, units } = this.engine.conservation()
    for (const [currency, sum] of Object.entries(cash)) assert.equal(sum, '0.00', `cash in ${currency}`)
    for (const [symbol, sum] of Object.entries(units)) assert.equal(sum, '0', `units of ${symbol}`)
  }
}

/** The order of the first order event. */
export function orderOf(events: readonly EngineEvent[]): OrderView {
  const event = events.find(found => found.type === 'order')
  assert.ok(event?.type === 'order', `no order event in ${JSON.stringify(events)}`)
  return event.order
}

export function refusalIn(events: readonly EngineEvent[]): RefusedEvent {
  const [event] = events
  assert.ok(event?.type === 'refused', `not refused: ${JSON.stringify(event)}`)
  return event
}

export function fillsIn(events: readonly EngineEvent[]): FillView[] {
  return events.flatMap(event => (event.type === 'order' && event.fill !== null ? [event.fill] : []))
}

/** `quantity @ price` of each fill. */
export function trades(fills: readonly FillView[]): string[] {
  return fills.map(fill => `${fill.quantity} @ ${fill.price}`)
}

export const STANDARD = { bids: [['100.00', '500']], asks: [['100.10', '500']] } as const satisfies {
  bids: QuoteLevel[]
  asks: QuoteLevel[]
}
