const VENUES = ['XNAS', 'XNYS', 'BATS', 'ARCX'] as const
const PRICE_LEAST = 100

/**
 * The trades of a measurement: all fields of a trade, including its symbol, follow from its number, so that a receiver can check it fully.
 */
export class Trades {
  readonly #symbols: readonly string[]
  /** The instant of trade number 0, in microseconds since the epoch; each later one is a microsecond later. */
  readonly #firstAt: number

  constructor(symbols: readonly string[], firstAt: number) {
    this.#symbols = symbols
    this.#firstAt = firstAt
  }

  /** In the sandbox's format. */
  item(number: number): string {
    const symbol = this.#symbols[number % this.#symbols.length] ?? ''
    return `{"t":"trade","s":"${symbol}","p":"${price(number)}","z":"${size(number)}","x":"${venue(number)}","at":"${this.#firstAt + number}000","k":"all"}`
  }

  /** This many from a number on, separated by commas. */
  items(from: number, count: number): string {
    let items = this.item(from)
    for (let number = from + 1; number < from + count; number += 1) items += `,${this.item(number)}`
    return items
  }

  /** The expected message at a client, without its subscription. */
  update(number: number): { readonly p: string; readonly s: string; readonly n: string; readonly ts: string } {
    return { p: price(number), s: size(number), n: venue(number), ts: `${this.#firstAt + number}000` }
  }

  /** The number of the trade of an instant, in microseconds since the epoch. */
  numberAt(micros: number): number {
    return micros - this.#firstAt
  }

  symbolOf(number: number): string {
    return this.#symbols[number % this.#symbols.length] ?? ''
  }
}

function price(number: number): string {
  const cents = number % 10_000
  return `${PRICE_LEAST + Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}

function size(number: number): string {
  return String(1 + (number % 900))
}

function venue(number: number): string {
  return VENUES[number % VENUES.length] ?? VENUES[0]
}
