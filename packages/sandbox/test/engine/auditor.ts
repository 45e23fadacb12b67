/** Checks an engine from outside, with its own figures, and throws if an order or a fill is impossible. */
import assert from 'node:assert/strict'
import type { Command, EngineEvent, OrderEvent, OrderState, OrderView } from '../../src/engine/types.ts'
import { readScaled } from '../../src/engine/units.ts'

const FINAL: readonly OrderState[] = ['filled', 'canceled', 'expired', 'rejected', 'replaced']

interface Seen {
  readonly order: OrderView
  readonly filled: bigint
}

export class Auditor {
  readonly #orders = new Map<string, Seen>()
  readonly #bands = new Map<string, { readonly lowest: bigint | undefined; readonly highest: bigint | undefined }>()
  readonly #execs = new Set<string>()
  #seq = 0

  /** Counts what it has checked, so that a test can verify that something was checked. */
  fills = 0
  customerFills = 0

  watch(command: Command, events: readonly EngineEvent[]): void {
    if (command.type === 'quote')
      this.#bands.set(command.symbol, { lowest: scaled(command.bids.at(-1)?.[0]), highest: scaled(command.asks.at(-1)?.[0]) })
    if (command.type === 'split') this.#bands.delete(command.symbol)
    for (const event of events) {
      assert.equal(event.seq, ++this.#seq, 'events are numbered without gaps')
      if (event.type === 'order') this.#order(event)
    }
    const [first] = events
    if (command.type === 'submit') {
      assert.ok(
        first?.type === 'refused' || (first?.type === 'order' && first.order.clientOrderId === command.clientOrderId),
        'the first event answers'
      )
      if (command.timeInForce === 'IOC' || command.timeInForce === 'FOK') this.#atOnce(command.timeInForce, events)
    }
  }

  /** Forgets closed orders, so that a long run stays small. */
  trim(): void {
    for (const [id, { order }] of this.#orders) if (FINAL.includes(order.state)) this.#orders.delete(id)
    this.#execs.clear()
  }

  #atOnce(timeInForce: 'IOC' | 'FOK', events: readonly EngineEvent[]): void {
    const [first] = events
    if (first?.type !== 'order') return
    const last = this.#orders.get(first.order.orderId)?.order
    assert.ok(last !== undefined && FINAL.includes(last.state), `${timeInForce} never rests`)
    if (timeInForce === 'FOK') assert.ok(last.filledQuantity === '0' || last.state === 'filled', 'FOK is all or none')
  }

  #order({ order, change, fill }: OrderEvent): void {
    const before = this.#orders.get(order.orderId)
    if (before !== undefined) assert.ok(!FINAL.includes(before.order.state), `${before.order.state} is final, came ${change}`)
    const filled = scaled(order.filledQuantity) ?? 0n
    const quantity = scaled(order.quantity ?? undefined)
    if (quantity !== undefined)
      assert.ok(filled + (scaled(order.carriedQuantity) ?? 0n) <= quantity, `overfilled: ${JSON.stringify(order)}`)
    for (const leg of order.legs ?? []) {
      const legFilled = leg.fills.reduce((sum, { quantity: part }) => sum + (scaled(part) ?? 0n), 0n)
      assert.equal(legFilled, filled * BigInt(leg.ratio), 'legs fill together')
    }
    if (order.state === 'filled') assert.equal(filled + (scaled(order.carriedQuantity) ?? 0n), quantity)
    const added = change === 'fill' ? (scaled(fill?.quantity) ?? 0n) : 0n
    assert.equal(filled, (before?.filled ?? 0n) + added, 'the filled quantity is the sum of the fills')
    if (fill !== null) this.#fill(order, fill)
    this.#orders.set(order.orderId, { order, filled })
  }

  #multiLeg(order: OrderView, fill: NonNullable<OrderEvent['fill']>): void {
    assert.equal(scaled(fill.price), netOf(order, fill), 'the net price is the sum of the legs')
    for (const { symbol, fills } of order.legs ?? []) {
      const { lowest, highest } = this.#bands.get(symbol) ?? {}
      const price = scaled(fills.at(-1)?.price) ?? 0n
      assert.ok(lowest === undefined || price >= lowest, 'a leg below its quotes')
      assert.ok(highest === undefined || price <= highest, 'a leg above its quotes')
    }
  }

  #fill(order: OrderView, fill: NonNullable<OrderEvent['fill']>): void {
    this.fills++
    if (fill.venue === 'HOUSE') this.customerFills++
    assert.ok(!this.#execs.has(fill.execId), 'an execution happens once')
    this.#execs.add(fill.execId)
    if (order.legs !== null) this.#multiLeg(order, fill)
    const price = scaled(fill.price) ?? 0n
    const limit = scaled(order.limitPrice ?? undefined)
    if (limit !== undefined) assert.ok(order.side.startsWith('BUY') ? price <= limit : price >= limit, 'beyond the limit')
    if (fill.venue === 'OPEN' || fill.venue === 'CLOSE') return
    const { lowest, highest } = this.#bands.get(order.symbol ?? '') ?? {}
    assert.ok(lowest === undefined || price >= lowest, `${fill.price} is below the quotes`)
    assert.ok(highest === undefined || price <= highest, `${fill.price} is above the quotes`)
  }
}

function netOf(order: OrderView, fill: NonNullable<OrderEvent['fill']>): bigint {
  let net = 0n
  for (const [at, { side, ratio, fills }] of (order.legs ?? []).entries()) {
    const part = fills.find(({ execId }) => execId === `${fill.execId}-${at + 1}`)
    assert.ok(part !== undefined, 'each leg has its part of the fill')
    assert.equal(scaled(part.quantity), (scaled(fill.quantity) ?? 0n) * BigInt(ratio))
    net += (side.startsWith('BUY') === (order.side === 'BUY') ? 1n : -1n) * (scaled(part.price) ?? 0n) * BigInt(ratio)
  }
  return net
}

function scaled(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : readScaled(text)
}
