/** Random commands, including options, multi-leg orders, exercises, expirations and futures. */
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { Command, EngineEvent, InstrumentSpec, OrderView, QuoteLevel } from '../../src/engine/types.ts'
import { cents, type Pick } from './chance.ts'
import { type ContractWorld, contract, FUTURE, futureSpec, NAMES, optionSpec } from './contracts.ts'

const ACCOUNTS = ['m1', 'm2', 'm3', 'c1', 'c2'] as const
const FUTURES_ACCOUNTS = ['f1', 'f2'] as const
const SIDES = ['BUY_TO_OPEN', 'SELL_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_CLOSE'] as const satisfies readonly Side[]

function one<T>(pick: Pick, values: readonly [T, ...T[]] | readonly T[]): T {
  const value = values[pick(values.length)] ?? values[0]
  if (value === undefined) throw new Error('nothing to pick from')
  return value
}

export class ContractChance {
  readonly #world: ContractWorld
  /** The live contracts, and the number ever listed. */
  #options: string[] = NAMES.map(name => contract(name))
  #month = FUTURE
  #made = 0
  #day = 2
  readonly #orders: OrderView[] = []

  constructor(world: ContractWorld) {
    this.#world = world
    world.account('c2', 'cash', '60000')
  }

  step(pick: Pick): void {
    const what = pick(100)
    if (what < 26) this.#submit(pick)
    else if (what < 44) this.#multiLeg(pick)
    else if (what < 64) this.#quote(pick, one(pick, this.#options))
    else if (what < 68) this.#underlying(pick)
    else if (what < 74) this.#shares(pick)
    else if (what < 82) this.#future(pick)
    else if (what < 87) this.#onOrder(pick, order => this.#world.cancel(order))
    else if (what < 92) this.#onOrder(pick, order => this.#replace(pick, order))
    else if (what < 96)
      this.#do(pick, { type: 'exercise', accountId: one(pick, ACCOUNTS), symbol: one(pick, this.#options), quantity: String(1 + pick(3)) })
    else this.#rare(pick)
  }

  #price(pick: Pick, most: number): string {
    return cents(5 + pick(most))
  }

  #quote(pick: Pick, symbol: string): void {
    const middle = 20 + pick(800)
    const side = (sign: 1 | -1): QuoteLevel[] =>
      Array.from({ length: pick(5) }, (_, at) => [cents(Math.max(1, middle + sign * (1 + at * 3))), String(1 + pick(20))] as const)
    this.#world.quote(side(-1), side(1), symbol)
  }

  #underlying(pick: Pick): void {
    const middle = 8_500 + pick(3_000)
    this.#world.quote([[cents(middle - 1), '500']], [[cents(middle + 1), '500']])
  }

  #submit(pick: Pick): void {
    const accountId = one(pick, ACCOUNTS)
    // A waiting stop or market order can fill at any price, beyond its hold; a cash account would end in debt.
    const orderType = accountId.startsWith('c') ? 'LMT' : one(pick, ['MKT', 'LMT', 'LMT', 'LMT', 'STP'] as const)
    const events = this.#world.submit({
      accountId,
      symbol: one(pick, this.#options),
      side: one(pick, SIDES),
      orderType,
      timeInForce: orderType === 'STP' ? 'GTC' : one(pick, ['DAY', 'GTC', 'IOC', 'FOK'] as const),
      quantity: String(1 + pick(6)),
      limitPrice: orderType === 'LMT' ? this.#price(pick, 900) : null,
      stopPrice: orderType === 'STP' ? this.#price(pick, 900) : null
    })
    this.#remember(pick, events)
  }

  #multiLeg(pick: Pick): void {
    const market = pick(4) === 0
    const closing = pick(6) === 0
    const legs = Array.from({ length: 2 + pick(3) }, (): `${'+' | '-'}${'o' | 'c'}${number} ${string}` => {
      return `${pick(2) === 0 ? '+' : '-'}${closing ? 'c' : 'o'}${1 + pick(2)} ${one(pick, this.#options)}`
    })
    const events = this.#world.package(legs, {
      accountId: one(pick, ACCOUNTS),
      side: one(pick, ['BUY', 'SELL'] as const),
      timeInForce: one(pick, ['DAY', 'GTC', 'GTC', 'IOC', 'FOK'] as const),
      quantity: String(1 + pick(4)),
      ...(market ? {} : { limitPrice: cents(pick(3_000) - 1_500) })
    })
    this.#remember(pick, events)
  }

  #shares(pick: Pick): void {
    const accountId = one(pick, ACCOUNTS)
    const limited = accountId.startsWith('c') || pick(2) === 0
    const events = this.#world.submit({
      accountId,
      side: one(pick, ['BUY', 'SELL'] as const),
      quantity: String(50 * (1 + pick(8))),
      timeInForce: 'GTC',
      limitPrice: !limited ? null : cents(8_500 + pick(3_000))
    })
    this.#remember(pick, events)
  }

  #future(pick: Pick): void {
    const middle = 20_000 + pick(200)
    const price = (ticks: number) => cents(ticks * 25)
    const what = pick(6)
    if (what < 2) this.#world.quote([[price(middle - 1), '9']], [[price(middle), '9']], this.#month)
    else if (what === 2) this.#world.print(price(middle), '1', this.#month)
    else if (what === 3 && pick(3) === 0) this.#do(pick, { type: 'settle', symbol: this.#month, price: price(middle) })
    else {
      const side = one(pick, ['BUY', 'SELL'] as const)
      const ticket = {
        accountId: one(pick, FUTURES_ACCOUNTS),
        symbol: this.#month,
        side,
        quantity: String(1 + pick(3)),
        timeInForce: 'GTC'
      } as const
      this.#remember(pick, this.#world.submit({ ...ticket, limitPrice: pick(3) === 0 ? null : price(middle) }))
    }
  }

  #replace(pick: Pick, order: OrderView): void {
    const negative = order.legs !== null && pick(2) === 0 ? '-' : ''
    const events = this.#world.replace(order, {
      quantity: pick(2) === 0 ? null : String(1 + pick(6)),
      limitPrice: order.limitPrice === null || pick(2) === 0 ? null : `${negative}${this.#price(pick, 900)}`
    })
    this.#remember(pick, events)
  }

  #rare(pick: Pick): void {
    const what = pick(9)
    if (what === 0) this.#session()
    else if (what === 1) this.#do(pick, { type: 'halt', symbol: one(pick, [...this.#options, 'AAPL']), halted: pick(3) === 0 })
    else if (what < 5) this.#end(pick)
    else if (what === 5) this.#endMonth(pick)
    else if (what === 6) this.#do(pick, { type: 'deposit', accountId: one(pick, ACCOUNTS), amount: String(1 + pick(5_000)) })
    else if (what === 7) this.#do(pick, { type: 'withdrawal', accountId: one(pick, ACCOUNTS), amount: String(1 + pick(5_000)) })
    else this.#do(pick, { type: 'dividend', symbol: 'AAPL', amountPerUnit: '0.25' })
  }

  /** Ends a contract, and lists another one instead. */
  #end(pick: Pick): void {
    const symbol = one(pick, this.#options)
    this.#do(pick, { type: 'expire', symbol, price: cents(8_500 + pick(3_000)) })
    const spec = freshOption(++this.#made, pick)
    this.#options = [...this.#options.filter(other => other !== symbol), spec.symbol]
    this.#do(pick, { type: 'list_instrument', spec })
  }

  #endMonth(pick: Pick): void {
    this.#do(pick, { type: 'expire', symbol: this.#month, price: cents(25 * (20_000 + pick(200))) })
    this.#month = `ESH26X${++this.#made}`
    this.#do(pick, { type: 'list_instrument', spec: futureSpec(this.#month) })
  }

  #session(): void {
    this.#day++
    const date = new Date(Date.UTC(2026, 2, this.#day)).toISOString().slice(0, 10)
    this.#world.phases('closed', date)
    this.#world.phase('closed', date)
    this.#world.now += 86_400_000_000 / 10
    this.#world.do({ type: 'tick' })
    this.#world.phase('open', date)
    this.#world.phases('open', date)
  }

  #do(_pick: Pick, command: Timeless<Command>): void {
    this.#world.do(command)
  }

  #remember(pick: Pick, events: readonly EngineEvent[]): void {
    for (const event of events) {
      if (event.type !== 'order' || event.change !== 'accepted') continue
      if (this.#orders.length < 100) this.#orders.push(event.order)
      else this.#orders[pick(100)] = event.order
    }
  }

  #onOrder(pick: Pick, action: (order: OrderView) => void): void {
    const order = this.#orders[pick(Math.max(1, this.#orders.length))]
    if (order !== undefined) action(order)
  }
}

type Timeless<C> = C extends Command ? Omit<C, 'at'> : never

/** A contract like the others, under its own symbol: the engine does not parse symbols. */
function freshOption(number: number, pick: Pick): InstrumentSpec {
  const spec = optionSpec(one(pick, NAMES))
  return { ...spec, symbol: `${spec.symbol}X${number}` }
}
