/** Random commands, from a seed or from fast-check's picks. */
import type { OrderView, Phase, QuoteLevel } from '../../src/engine/types.ts'
import type { World } from './world.ts'

/** A whole number from 0 to below `n`. */
export type Pick = (n: number) => number

/** mulberry32: small, fast, the same on every machine. */
export function seeded(seed: number): Pick {
  let state = seed >>> 0
  return n => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % n
  }
}

/** Picks from a list; zero once it is used up. */
export function listed(values: readonly number[]): Pick {
  let at = 0
  return n => (values[at++] ?? 0) % n
}

const SYMBOLS = ['AAPL', 'MSFT', 'BTC/USD'] as const
const PHASE_ORDER: readonly Phase[] = ['open', 'post', 'closed', 'pre']

function one<T>(pick: Pick, values: readonly [T, ...T[]]): T {
  return values[pick(values.length)] ?? values[0]
}

/** The state of the random market between commands. */
export class Chance {
  readonly #world: World
  readonly #live: OrderView[] = []
  #phase = 0
  #day = 2

  constructor(world: World) {
    this.#world = world
  }

  /** Performs one random action. */
  step(pick: Pick): void {
    const what = pick(100)
    if (what < 45) this.#submit(pick)
    else if (what < 65) this.#quote(pick)
    else if (what < 75) this.#world.print(this.#price(pick, 40), String(1 + pick(40)), one(pick, SYMBOLS))
    else if (what < 85) this.#onLive(pick, order => this.#world.cancel(order))
    else if (what < 94) this.#onLive(pick, order => this.#replace(pick, order))
    else this.#rare(pick)
  }

  #price(pick: Pick, spread: number): string {
    return `${90 + pick(20)}.${String(pick(spread)).padStart(2, '0')}`
  }

  #quote(pick: Pick): void {
    const middle = 9_500 + pick(1_000)
    const side = (sign: 1 | -1): QuoteLevel[] => {
      const first = middle + sign * (1 + pick(8))
      return Array.from({ length: pick(4) }, (_, at) => [cents(first + sign * at * 3), String(1 + pick(30))] as const)
    }
    this.#world.quote(side(-1), side(1), one(pick, SYMBOLS))
  }

  #submit(pick: Pick): void {
    const symbol = one(pick, SYMBOLS)
    const crypto = symbol === 'BTC/USD'
    const orderType = one(pick, ['MKT', 'LMT', 'LMT', 'LMT', 'STP', 'STPLMT'] as const)
    const notional = pick(12) === 0
    const events = this.#world.submit({
      accountId: crypto ? 'k1' : one(pick, ['m1', 'm2', 'm3', 'c1'] as const),
      symbol,
      side: one(pick, ['BUY', 'SELL'] as const),
      orderType,
      timeInForce: one(pick, ['DAY', 'DAY', 'GTC', 'IOC', 'FOK', 'OPEN', 'CLOSE', 'DAY+', 'GTC+'] as const),
      quantity: notional ? null : this.#quantity(pick, crypto),
      notional: notional ? String(1 + pick(3_000)) : null,
      limitPrice: orderType === 'LMT' || orderType === 'STPLMT' ? this.#price(pick, 100) : null,
      stopPrice: orderType === 'STP' || orderType === 'STPLMT' ? this.#price(pick, 100) : null
    })
    for (const event of events) if (event.type === 'order' && event.change === 'accepted') this.#remember(pick, event.order)
  }

  #quantity(pick: Pick, crypto: boolean): string {
    return crypto && pick(2) === 0 ? `0.${String(1 + pick(999_999_999)).padStart(9, '0')}` : String(1 + pick(60))
  }

  #replace(pick: Pick, order: OrderView): void {
    const events = this.#world.replace(order, {
      quantity: pick(2) === 0 || order.notional !== null ? null : String(1 + pick(60)),
      notional: order.notional === null || pick(2) === 0 ? null : String(1 + pick(3_000)),
      limitPrice: order.limitPrice === null || pick(2) === 0 ? null : this.#price(pick, 100),
      stopPrice: order.stopPrice === null || pick(3) > 0 ? null : this.#price(pick, 100)
    })
    for (const event of events) if (event.type === 'order' && event.change === 'accepted') this.#remember(pick, event.order)
  }

  // A few hundred orders are enough to choose from; most have ended by then, which is how races arise.
  #remember(pick: Pick, order: OrderView): void {
    if (this.#live.length < 200) this.#live.push(order)
    else this.#live[pick(200)] = order
  }

  #onLive(pick: Pick, action: (order: OrderView) => void): void {
    const order = this.#live[pick(Math.max(1, this.#live.length))]
    if (order !== undefined) action(order)
  }

  #rare(pick: Pick): void {
    const symbol = one(pick, SYMBOLS)
    const accountId = one(pick, ['m1', 'm2', 'm3', 'c1', 'k1'] as const)
    const what = pick(12)
    if (what === 0) this.#session()
    else if (what === 1) this.#world.do({ type: 'halt', symbol, halted: pick(3) === 0 })
    else if (what === 2) this.#world.do({ type: 'dividend', symbol, amountPerUnit: `0.${1 + pick(999)}` })
    else if (what === 3) this.#world.do({ type: 'interest', accountId, amount: cents(pick(2_000) - 1_000), description: null })
    else if (what === 4) this.#world.do({ type: 'deposit', accountId, amount: String(1 + pick(5_000)) })
    else if (what === 5) this.#world.do({ type: 'withdrawal', accountId, amount: String(1 + pick(5_000)) })
    else if (what === 6) this.#world.do({ type: 'tick' })
    else if (what === 7 && pick(20) === 0) this.#world.do({ type: 'split', symbol, numerator: 1 + pick(3), denominator: 1 + pick(3) })
    else this.#world.do({ type: 'mark', symbol, price: this.#price(pick, 100) })
  }

  #session(): void {
    this.#phase = (this.#phase + 1) % PHASE_ORDER.length
    const phase = PHASE_ORDER[this.#phase] ?? 'open'
    if (phase === 'pre') this.#day++
    const date = new Date(Date.UTC(2026, 2, this.#day)).toISOString().slice(0, 10)
    this.#world.phase(phase, date)
    if (phase === 'pre') this.#world.do({ type: 'session', market: 'crypto', phase: 'open', tradingDate: date })
  }
}

export function cents(value: number): string {
  const text = String(Math.abs(value)).padStart(3, '0')
  return `${value < 0 ? '-' : ''}${text.slice(0, -2)}.${text.slice(-2)}`
}
