// A scripted broker's order ledger: the actual state of its orders.
import { compare, minus, parseDecimal, plus, sum, ZERO } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { OrderStatus } from '@trunkline/core/domain/vocabulary'
import type { NewOrder, OrderKey, OrderReport, ReplaceOrder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

const LIVE: ReadonlySet<OrderStatus> = new Set(['pending', 'working', 'partially_filled', 'pending_cancel', 'pending_replace'])

export class OrderLedger {
  readonly #clock: Clock
  readonly #onChange: (report: OrderReport) => void
  readonly #orders = new Map<string, OrderReport>()
  /** How often an order arrived under each client order id: at most once, if the service is correct. */
  readonly #arrivals = new Map<string, number>()
  #count = 0
  #fills = 0

  readonly #replacedOrderId: 'new' | 'same'

  constructor(clock: Clock, onChange: (report: OrderReport) => void, replacedOrderId: 'new' | 'same' = 'new') {
    this.#clock = clock
    this.#onChange = onChange
    this.#replacedOrderId = replacedOrderId
  }

  list(): readonly OrderReport[] {
    return [...this.#orders.values()]
  }

  arrivals(brokerClOrdId: string): number {
    return this.#arrivals.get(brokerClOrdId) ?? 0
  }

  get(brokerOrderId: string): OrderReport {
    const order = this.#orders.get(brokerOrderId)
    if (order === undefined) throw new Error(`the scripted broker has no order ${brokerOrderId}`)
    return order
  }

  /** The newest order under a client order id. */
  byClient(brokerClOrdId: string): OrderReport | null {
    return this.list().findLast(order => order.brokerClOrdId === brokerClOrdId) ?? null
  }

  find(key: OrderKey): OrderReport | null {
    const found = key.by === 'brokerOrderId' ? (this.#orders.get(key.brokerOrderId) ?? null) : this.byClient(key.brokerClOrdId)
    return found?.brokerAccountId === key.brokerAccountId ? found : null
  }

  isLive({ brokerOrderId }: { readonly brokerOrderId: string }): boolean {
    return LIVE.has(this.get(brokerOrderId).status)
  }

  add(order: NewOrder, status: OrderStatus): OrderReport {
    this.#arrivals.set(order.brokerClOrdId, this.arrivals(order.brokerClOrdId) + 1)
    return this.#enter(order, order.brokerAccountId, order.brokerClOrdId, status)
  }

  /** Adds an order that was not placed through the service. */
  addOutside(ticket: OrderTicket, brokerAccountId: string, status: OrderStatus = 'working'): OrderReport {
    return this.#enter(ticket, brokerAccountId, null, status)
  }

  /**
   * The old order ends and a new one replaces it, whose total includes the old one's fills; if ids are kept, the order itself gets the new
   * terms.
   */
  replace({ brokerAccountId, brokerOrderId, brokerClOrdId, ticket }: ReplaceOrder): OrderReport {
    this.#arrivals.set(brokerClOrdId, this.arrivals(brokerClOrdId) + 1)
    if (this.#replacedOrderId === 'same') {
      const { quantity, limitPrice, stopPrice, type } = ticket
      const { status, fills } = this.get(brokerOrderId)
      const isPartial = status !== 'pending' && (fills ?? []).length > 0
      return this.move(brokerOrderId, isPartial ? 'partially_filled' : 'working', { quantity, limitPrice, stopPrice, type })
    }
    const successor = this.#enter(ticket, brokerAccountId, brokerClOrdId, 'working', brokerOrderId)
    this.move(brokerOrderId, 'replaced', { replacedByBrokerOrderId: successor.brokerOrderId })
    return successor
  }

  /** Whether an order that keeps its id has filled less than its new quantity. */
  canBecome({ brokerOrderId, ticket }: ReplaceOrder): boolean {
    if (this.#replacedOrderId === 'new' || ticket.quantity === null) return true
    return compare(sum((this.get(brokerOrderId).fills ?? []).map(({ quantity }) => quantity)), ticket.quantity) < 0
  }

  move(brokerOrderId: string, status: OrderStatus, more: Partial<OrderReport> = {}): OrderReport {
    return this.#put({ ...this.get(brokerOrderId), ...more, status, brokerStatus: status, updatedAt: this.#clock.now() })
  }

  /** Executes a part of an order; without leaves quantity it is filled. */
  fill(brokerOrderId: string, quantity: string, price = '10.00'): OrderReport {
    const order = this.get(brokerOrderId)
    this.#fills += 1
    const at = this.#clock.now()
    const fill = {
      fillId: `x-${this.#fills}`,
      at,
      quantity: parseDecimal(quantity, 'quantity'),
      price: parseDecimal(price, 'price'),
      execDest: 'XTST'
    }
    const fills = [...(order.fills ?? []), fill]
    const isDone = compare(this.#left({ ...order, fills }), ZERO) <= 0
    return this.move(brokerOrderId, isDone ? 'filled' : order.status === 'pending_cancel' ? 'pending_cancel' : 'partially_filled', {
      fills
    })
  }

  /** The leaves quantity of an order by quantity. */
  left(brokerOrderId: string): string {
    return this.#left(this.get(brokerOrderId))
  }

  #left(order: OrderReport) {
    const own = sum((order.fills ?? []).map(({ quantity }) => quantity))
    return minus(order.quantity ?? ZERO, plus(own, this.#carried(order)))
  }

  #carried({ replacesBrokerOrderId }: OrderReport): ReturnType<typeof sum> {
    if (replacesBrokerOrderId === null) return ZERO
    const old = this.get(replacesBrokerOrderId)
    return plus(sum((old.fills ?? []).map(({ quantity }) => quantity)), this.#carried(old))
  }

  #enter(
    { side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs }: OrderTicket,
    brokerAccountId: string,
    brokerClOrdId: string | null,
    status: OrderStatus,
    replacesBrokerOrderId: string | null = null
  ): OrderReport {
    this.#count += 1
    const at = this.#clock.now()
    return this.#put({
      ...{ side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs },
      brokerAccountId,
      brokerOrderId: `o-${this.#count}`,
      brokerClOrdId,
      status,
      brokerStatus: status,
      brokerMessage: null,
      rejectCode: null,
      brokerOrderType: type,
      execDest: null,
      fills: [],
      filledTotal: null,
      entryTime: at,
      updatedAt: at,
      replacesBrokerOrderId,
      replacedByBrokerOrderId: null
    })
  }

  #put(report: OrderReport): OrderReport {
    this.#orders.set(report.brokerOrderId, report)
    this.#onChange(report)
    return report
  }
}
