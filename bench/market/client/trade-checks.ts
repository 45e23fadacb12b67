import type { Trades } from '../sandbox/trades.ts'

const AT = Buffer.from('"ts":"')
const SUB = Buffer.from('","sub_id":"')
const ZERO = 0x30
const QUOTE = 0x22
/** Digits of an instant in microseconds; the digits of nanoseconds after them are zeros. */
const MICROS_DIGITS = 16
/** One in this many updates is fully compared as JSON. Prime, so that every symbol is covered. */
const COMPARED_EVERY = 997

/** Called for every update that is one of the trades. */
export type TradeHandler = (number: number) => void

/** Checks the trades of one session as they arrive for missing, doubled, reordered and altered ones, and for wrong subscriptions. */
export class TradeChecks {
  readonly #trades: Trades
  readonly #symbols: number
  /** The next expected number, by subscription. */
  readonly #due = new Map<number, number>()
  readonly #onTrade: TradeHandler
  #count = 0
  #faults = 0
  #first: string | null = null

  /** @param subscriptions the index of each subscription's symbol, by `sub_id` */
  constructor(trades: Trades, subscriptions: ReadonlyMap<number, number>, onTrade: TradeHandler) {
    this.#trades = trades
    this.#symbols = subscriptions.size
    for (const [subId, symbolIndex] of subscriptions) this.#due.set(subId, symbolIndex)
    this.#onTrade = onTrade
  }

  /** Whether a message is a trade rather than a message about the session. */
  static isTrade(bytes: Uint8Array, start: number): boolean {
    return bytes[start + 2] === 0x70 && bytes[start + 3] === QUOTE
  }

  receive(bytes: Buffer, start: number, end: number): void {
    const at = bytes.indexOf(AT, start) + AT.length
    let micros = 0
    for (let index = at; index < at + MICROS_DIGITS; index += 1) micros = micros * 10 + (bytes[index] ?? 0) - ZERO
    let subId = 0
    for (let index = bytes.indexOf(SUB, at) + SUB.length; index < end && bytes[index] !== QUOTE; index += 1)
      subId = subId * 10 + (bytes[index] ?? 0) - ZERO
    const number = this.#trades.numberAt(micros)
    const due = this.#due.get(subId)
    if (number !== due) this.#fault(`subscription ${subId}: received trade ${number}, expected ${due}`)
    this.#due.set(subId, number + this.#symbols)
    this.#count += 1
    if (number % COMPARED_EVERY === 0) this.#compare(number, bytes.toString('latin1', start, end))
    this.#onTrade(number)
  }

  /** Trades received. */
  get count(): number {
    return this.#count
  }

  get faults(): number {
    return this.#faults
  }

  /** The first fault as a message; null without one. */
  get first(): string | null {
    return this.#first
  }

  #compare(number: number, text: string): void {
    const { sub_id: _, ...received } = Object(JSON.parse(text))
    const expected = JSON.stringify(this.#trades.update(number))
    if (JSON.stringify(received) !== expected) this.#fault(`received ${JSON.stringify(received)}, expected ${expected}`)
  }

  #fault(what: string): void {
    this.#faults += 1
    this.#first ??= what
  }
}
