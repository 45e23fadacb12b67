/** TradeStation's side of a recording: a login whose accounts and lists are those that were recorded. */

import type { OrderReport } from '@trunkline/core/ports/broker'
import { type Json, type Recording, recordedTime, written } from './load.ts'
import { pathOf, Replay, reply } from './replay.ts'
import { LONG_AGO, signal } from './ticket.ts'

/** A login whose accounts are those of the recording, and what their lists hold. */
export class Stage implements AsyncDisposable {
  readonly replay: Replay
  readonly recording: Recording
  readonly account: string
  orders: readonly Json[] = []
  past: readonly Json[] = []
  positions: readonly Json[] = []

  private constructor(replay: Replay, recording: Recording) {
    this.replay = replay
    this.recording = recording
    const accounts = accountsIn(recording.steps.map(({ payload }) => payload))
    this.account = accounts[0] ?? '11111111'
    const all = accounts.length === 0 ? [this.account] : accounts
    const Accounts = all.map(AccountID => ({ AccountID, AccountType: 'Margin', Currency: 'USD', Status: 'Active' }))
    replay.on('GET /v3/brokerage/accounts', reply({ Accounts }))
    replay.on('GET /v3/brokerage/accounts/*', ({ path }) => this.#list(pathOf(path)))
  }

  static async open(recording: Recording): Promise<Stage> {
    return new Stage(await Replay.open('TRADESTATION'), recording)
  }

  /** The reports of orders as the lists have them. */
  async reports(orders: readonly Json[], past: readonly Json[] = []): Promise<readonly OrderReport[]> {
    this.orders = orders.map(order => this.completed(order))
    this.past = past.map(order => this.completed(order))
    return (await this.replay.broker.orders(this.account, LONG_AGO, signal())).items
  }

  /** Some sources kept a part of an order's fields only: the others are as on an order that nothing has happened to. */
  completed(order: Json): Json {
    const some = { AccountID: this.account, OrderID: '900000001', Status: 'ACK', OrderType: 'Limit', Duration: 'DAY', LimitPrice: '1' }
    const leg = { BuyOrSell: 'Buy', OpenOrClose: 'Open', QuantityOrdered: '1', ExecQuantity: '0', QuantityRemaining: '1' }
    const Legs = (order.Legs ?? [{ Symbol: 'MSFT', AssetType: 'STOCK' }]).map((own: Json) => ({ ...leg, ...own }))
    return { ...some, OpenedDateTime: recordedTime(this.recording), ...order, Legs }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.replay[Symbol.asyncDispose]()
  }

  #list(path: string) {
    const [, accounts, kind, id] = /accounts\/([^/]+)\/([^/]+)(?:\/(.+))?$/.exec(path) ?? []
    const found = kind === 'historicalorders' ? this.past : this.orders
    if (kind === 'positions') return text({ Positions: this.positions, Errors: [] })
    if (kind === 'balances') return reply({ Balances: [{ AccountID: accounts, CashBalance: '1', BuyingPower: '2' }], Errors: [] })
    const one = found.filter(order => id === undefined || order.OrderID === id)
    return one.length === 0 && id !== undefined
      ? reply({ Error: 'NotFound', Message: 'Order not found' }, 404)
      : text({ Orders: one, Errors: [] })
  }
}

function text(value: Json) {
  return { status: 200, body: written(value) }
}

function accountsIn(payload: Json): readonly string[] {
  const found = new Set<string>()
  JSON.stringify(payload, (key, value: unknown) => {
    if (key === 'AccountID' && typeof value === 'string') found.add(value)
    return value
  })
  return [...found]
}
