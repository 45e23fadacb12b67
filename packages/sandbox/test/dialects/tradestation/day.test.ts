// Random days: whatever happens, streams and REST agree in the end, and orders add up to positions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Brokerage } from '../../../src/brokerage/start.ts'
import { draw, keyOf } from '../../../src/market/synthetic/chance.ts'
import { control, type Wire } from '../../brokerage/support.ts'
import { Client, openBrokerage, Stream } from './support.ts'

const SEEDS = ['one', 'two', 'three', 'four', 'five', 'six']
const STEPS = 100

for (const seed of SEEDS) {
  test(`a random day (seed ${seed})`, async () => {
    await using brokerage = await openBrokerage({ config: { seed }, options: { oddityChance: 128, cutChance: 200 } })
    const client = await Client.of(brokerage)
    const path = `/brokerage/stream/accounts/${client.account()}`
    await using orders = await Stream.live(client, `${path}/orders`)
    await using positions = await Stream.live(client, `${path}/positions`)
    const day = new Day(brokerage, client, seed)
    for (let step = 0; step < STEPS; step++) await day.step()
    const { Orders } = (await client.get(`/brokerage/accounts/${client.account()}/orders`)).body
    const { Positions } = (await client.get(`/brokerage/accounts/${client.account()}/positions`)).body
    assert.ok(Orders.length >= 5, 'something has happened')
    for (const order of Orders) await orders.until(() => same(order, lastOf(orders, order.OrderID)))
    assert.deepEqual(new Set(orders.publisher.map(({ OrderID }) => OrderID)), new Set(Orders.map(({ OrderID }: Wire) => OrderID)))
    for (const order of Orders) growing(orders, order.OrderID)
    for (const position of Positions) await positions.until(() => merged(positions, position.PositionID).Quantity === position.Quantity)
    assert.equal(Positions[0]?.Quantity ?? '0', String(net(Orders)))
  })
}

class Day {
  readonly #brokerage: Brokerage
  readonly #client: Client
  readonly #key: number
  readonly #ids: string[] = []
  #draws = 0

  constructor(brokerage: Brokerage, client: Client, seed: string) {
    this.#brokerage = brokerage
    this.#client = client
    this.#key = keyOf(`day ${seed}`)
  }

  async step(): Promise<void> {
    const action = this.#below(10)
    if (action < 4) await this.#place()
    else if (action < 6) await this.#replace()
    else if (action < 7) await this.#client.cancel(this.#pick())
    else await this.#move()
  }

  async #place(): Promise<void> {
    const action = ['BUY', 'SELL', 'SELLSHORT', 'BUYTOCOVER'][this.#below(4)]
    const isMarket = this.#below(3) === 0
    const { body } = await this.#client.place({
      TradeAction: action,
      Quantity: String(1 + this.#below(20)),
      OrderType: isMarket ? 'Market' : 'Limit',
      LimitPrice: isMarket ? null : this.#price(),
      TimeInForce: { Duration: isMarket ? 'DAY' : 'GTC' }
    })
    for (const { OrderID } of body.Orders) this.#ids.push(OrderID)
  }

  async #replace(): Promise<void> {
    const quantity = this.#below(2) === 0 ? { Quantity: String(1 + this.#below(30)) } : {}
    await this.#client.change(this.#pick(), { LimitPrice: this.#price(), ...quantity })
  }

  /** A thin book, so that orders fill in parts. */
  #move(): Promise<unknown> {
    const middle = 480 + this.#below(40)
    const bids = [[String(middle), String(1 + this.#below(6))]]
    const asks = [[String(middle + 1), String(1 + this.#below(6))]]
    return control(this.#brokerage, 'PUT', '/market/SPY', { bids, asks })
  }

  #price(): string {
    return String(485 + this.#below(30))
  }

  #pick(): string {
    return this.#ids[this.#below(Math.max(1, this.#ids.length))] ?? '1'
  }

  #below(bound: number): number {
    return draw(this.#key, ++this.#draws) % bound
  }
}

function lastOf(stream: Stream, id: string): Wire {
  return stream.publisher.findLast(({ OrderID }) => OrderID === id)
}

/** The stream's status may not have caught up with a part that was filled. */
function same(shown: Wire, received: Wire): boolean {
  const isBehind = shown.Status === 'FPR' && received?.Status === 'ACK'
  const { Status, StatusDescription } = isBehind ? received : shown
  return JSON.stringify({ ...shown, Status, StatusDescription }) === JSON.stringify(received)
}

/** What was filled never becomes less. */
function growing(stream: Stream, id: string): void {
  const filled = stream.publisher.filter(({ OrderID }) => OrderID === id).map(({ Legs: [leg] }) => Number(leg.ExecQuantity))
  for (const [nth, quantity] of filled.entries()) assert.ok(nth === 0 || quantity >= (filled[nth - 1] ?? 0), `${id}: ${filled}`)
}

function merged(stream: Stream, id: string): Wire {
  return Object.assign({}, ...stream.received.filter(({ PositionID }) => PositionID === id))
}

function net(orders: readonly Wire[]): number {
  return orders.reduce((sum, { Legs: [leg] }) => sum + Number(leg.ExecQuantity) * (leg.BuyOrSell.startsWith('Buy') ? 1 : -1), 0)
}
