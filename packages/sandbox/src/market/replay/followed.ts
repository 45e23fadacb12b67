/** Followed recorded contracts: their tapes, their figures of the day, and their settlement and end. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Micros, OptionTerms, QuoteCommand, TradeCommand } from '../../engine/types.ts'
import { type DaySpan, daysOf } from '../day-starts.ts'
import { settlementsWithin } from '../futures/months.ts'
import { NEW_YORK } from '../hours.ts'
import { billionths, fromBillionths } from '../lean/numbers.ts'
import { openInterest } from '../lean/rows.ts'
import { type ModelFigures, modelFigures, NO_MODEL } from '../options/figures.ts'
import { impliedVolatility, type Terms, valuation } from '../options/greeks.ts'
import { type FeedCommand, FOLLOWED_MAX, type OptionFigures } from '../types.ts'
import type { RecordedContract } from './contracts.ts'
import { Tape } from './tape.ts'

/** Per year, continuously compounded: the rate for implied volatilities of recorded options. No dividend. */
const RATE = 0.005
const YEAR: Micros = 365 * 86_400_000_000
const DAY: Micros = 86_400_000_000
const dayAt = daysOf(NEW_YORK)

/** One followed contract. */
interface Followed {
  readonly contract: RecordedContract
  readonly quotes: Tape
  readonly trades: Tape
  readonly interest: Decimal | null
  quote: QuoteCommand | null
  last: Decimal | null
  day: Day | null
}

interface Day {
  readonly start: Micros
  readonly open: Decimal
  high: Decimal
  low: Decimal
  volume: bigint
}

export interface ContractEvent {
  readonly at: Micros
  /** Symbols that end with this event. */
  readonly ended: readonly string[]
  /** Whether it is the daily settlement of the months that do not end. */
  readonly settles: boolean
}

export class FollowedContracts {
  readonly #contracts: ReadonlyMap<string, RecordedContract>
  readonly #window: { readonly from: Micros; readonly to: Micros }
  readonly #followed = new Map<string, Followed>()
  readonly #asked = new Set<string>()
  /** The last print's price of every symbol, contracts and others. */
  readonly #prices = new Map<string, Decimal>()
  /** Events up to and including this instant have been applied. */
  #done: Micros = 0
  #due: { readonly event: ContractEvent | null } | null = null

  constructor(contracts: ReadonlyMap<string, RecordedContract>, window: { readonly from: Micros; readonly to: Micros }) {
    this.#contracts = contracts
    this.#window = window
  }

  /** Call {@link open} first. */
  get asked(): ReadonlySet<string> {
    return this.#asked
  }

  follow(symbols: Iterable<string>): void {
    for (const symbol of symbols) {
      if (!this.#contracts.has(symbol) || this.#followed.has(symbol)) continue
      if (this.#followed.size + this.#asked.size >= FOLLOWED_MAX)
        throw new RangeError(`at most ${FOLLOWED_MAX} contracts can be followed; unfollow some before ${symbol.slice(0, 40)}`)
      this.#asked.add(symbol)
    }
  }

  unfollow(symbols: Iterable<string>): readonly Tape[] {
    const closed: Tape[] = []
    for (const symbol of symbols) {
      this.#asked.delete(symbol)
      const followed = this.#followed.get(symbol)
      if (followed === undefined) continue
      this.#followed.delete(symbol)
      this.#due = null
      closed.push(followed.quotes, followed.trades)
    }
    return closed
  }

  tapes(): { readonly quotes: readonly Tape[]; readonly trades: readonly Tape[] } {
    const all = [...this.#followed.values()]
    return { quotes: all.map(({ quotes }) => quotes), trades: all.map(({ trades }) => trades) }
  }

  /**
   * Opens the requested contracts: skips the records before `at`, lists each contract and shows its quote.
   * @param seen receives every skipped quote and print
   * @throws BadMarketData
   */
  async open(at: Micros, into: FeedCommand[], seen: (command: FeedCommand) => void): Promise<void> {
    if (this.#asked.size > 0) this.#done = Math.max(this.#done, at - 1)
    for (const symbol of [...this.#asked]) {
      this.#asked.delete(symbol)
      const contract = this.#contracts.get(symbol)
      if (contract === undefined) continue
      const followed: Followed = {
        contract,
        quotes: new Tape(contract.quotes, this.#window),
        trades: new Tape(contract.trades, this.#window),
        interest: await interestOf(contract),
        quote: null,
        last: null,
        day: null
      }
      this.#followed.set(symbol, followed)
      this.#due = null
      for (const tape of [followed.quotes, followed.trades]) {
        await tape.refill()
        while (tape.head !== null && tape.head.at < at) {
          seen(tape.head)
          tape.take()
          if (tape.head === null) await tape.refill()
        }
      }
      into.push({ type: 'list_instrument', at, spec: contract.instrument })
      if (followed.quote !== null) into.push({ ...followed.quote, at })
    }
  }

  remember(command: FeedCommand): void {
    if (command.type === 'trade') this.#printed(command)
    else if (command.type === 'quote') {
      const followed = this.#followed.get(command.symbol)
      if (followed !== undefined) followed.quote = command
    }
  }

  /** The last print, or the middle of bid and ask before any print. */
  priceOf(symbol: string): Decimal | null {
    const quote = this.#followed.get(symbol)?.quote
    return this.#prices.get(symbol) ?? (quote == null ? null : middle(quote))
  }

  /** The next event of the followed contracts, a settlement or an end; null: none. */
  get due(): ContractEvent | null {
    this.#due ??= { event: this.#eventAfter(this.#done) }
    return this.#due.event
  }

  /** Applies the due event. @returns its commands, with the prices of its time */
  take({ at, ended, settles }: ContractEvent): readonly FeedCommand[] {
    this.#done = at
    this.#due = null
    const commands: FeedCommand[] = []
    for (const { contract } of this.#followed.values()) {
      const { symbol, option, kind } = contract.instrument
      const isEnd = ended.includes(symbol)
      const price = this.priceOf(isEnd && option !== undefined ? option.underlying : symbol)
      // Without a price no settlement is possible.
      if (price === null) continue
      if (isEnd) commands.push({ type: 'expire', at, symbol, price })
      else if (settles && kind === 'FUT') commands.push({ type: 'settle', at, symbol, price })
    }
    return commands
  }

  /** Null for a contract that is not followed: its day is unknown. */
  figures(symbol: string, at: Micros): OptionFigures | null {
    const followed = this.#followed.get(symbol)
    const option = followed?.contract.instrument.option
    if (followed === undefined || option === undefined) return null
    const day = followed.day?.start === dayAt(at).start ? followed.day : null
    return {
      open: day?.open ?? null,
      high: day?.high ?? null,
      low: day?.low ?? null,
      last: followed.last,
      close: null,
      previousClose: null,
      volume: fromBillionths(day?.volume ?? 0n),
      ...this.#model(option, followed.quote, at),
      openInterest: followed.interest
    }
  }

  /** From the middle of bid and ask, and the underlying's last price; nothing if one of them is unknown or gives no volatility. */
  #model(option: OptionTerms, quote: QuoteCommand | null, at: Micros): ModelFigures {
    const spot = this.#prices.get(option.underlying)
    const mid = quote === null ? null : middle(quote)
    if (spot === undefined || mid === null) return NO_MODEL
    const { right, strike, lastTradeAt } = option
    const years = (lastTradeAt - at) / YEAR
    const terms: Terms = { right, spot: Number(spot), strike: Number(strike), years, rate: RATE, dividend: 0 }
    const volatility = impliedVolatility(terms, Number(mid))
    return volatility === null ? NO_MODEL : modelFigures(valuation(terms, volatility), volatility)
  }

  #printed({ symbol, price, size, at }: TradeCommand): void {
    const text = price as Decimal
    this.#prices.set(symbol, text)
    const followed = this.#followed.get(symbol)
    if (followed === undefined) return
    followed.last = text
    const { start }: DaySpan = dayAt(at)
    const day = followed.day
    if (day?.start !== start) {
      followed.day = { start, open: text, high: text, low: text, volume: billionths(size) }
      return
    }
    if (billionths(text) > billionths(day.high)) day.high = text
    if (billionths(text) < billionths(day.low)) day.low = text
    day.volume += billionths(size)
  }

  #eventAfter(after: Micros): ContractEvent | null {
    const all = [...this.#followed.values()].map(({ contract }) => contract)
    if (all.length === 0) return null
    // A contract that ended before it was followed ends at once.
    const ends = all.map(({ lastTradeAt }) => Math.max(lastTradeAt, after + 1))
    const end = Math.min(...ends)
    const hasMonths = all.some(({ instrument }) => instrument.kind === 'FUT')
    const until = Math.min(end, after + 10 * DAY)
    const [settled] = hasMonths ? settlementsWithin(after, until) : []
    const at = Math.min(end, settled ?? Number.POSITIVE_INFINITY)
    const ended = all.filter((_, index) => ends[index] === at).map(({ instrument }) => instrument.symbol)
    return { at, ended, settles: settled === at }
  }
}

function middle({ bids: [bid], asks: [ask] }: QuoteCommand): Decimal | null {
  if (bid === undefined || ask === undefined) return null
  return fromBillionths((billionths(bid[0]) + billionths(ask[0])) / 2n)
}

/** The open interest on the morning of the replay's first date. @throws BadMarketData */
async function interestOf({ openInterest: [first] }: RecordedContract): Promise<Decimal | null> {
  if (first === undefined) return null
  for await (const rows of openInterest(first)) for (const { contracts } of rows) return contracts
  return null
}
