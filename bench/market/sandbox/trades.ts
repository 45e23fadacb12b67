const VENUES = ['XNAS', 'XNYS', 'BATS', 'ARCX'] as const
const PRICE_LEAST = 100

/** The trades of a measurement: the number of a trade says everything about it, its symbol too, so that who gets it can check it whole. */
export class Trades {
  readonly #symbols: readonly string[]
  /** When trade number 0 happened, microseconds since the epoch; each later one is a microsecond after it. */
  readonly #firstAt: number

  constructor(symbols: readonly string[], firstAt: number) {
    this.#symbols = symbols
    this.#firstAt = firstAt
  }

  /** As the sandbox writes it. */
  item(number: number): string {
    const symbol = this.#symbols[number % this.#symbols.length] ?? ''
    return `{"t":"trade","s":"${symbol}","p":"${price(number)}","z":"${size(number)}","x":"${venue(number)}","at":"${this.#firstAt + number}000","k":"all"}`
  }

  /** So many from a number on, with commas between them. */
  items(from: number, count: number): string {
    let items = this.item(from)
    for (let number = from + 1; number < from + count; number += 1) items += `,${this.item(number)}`
    return items
  }

  /** What a client is to be given, without its subscription. */
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
