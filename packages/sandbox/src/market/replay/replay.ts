/** The recorded market: all tapes merged by time, with sessions and control actions between them. */
import type { Decimal } from '@trunkline/core/domain/decimal'
import type { Micros, QuoteCommand, SessionCommand } from '../../engine/types.ts'
import { BarSeries } from '../bar-series.ts'
import { checkedPrice, shownPrice } from '../control-price.ts'
import { type CalendarChoice, NEW_YORK } from '../hours.ts'
import { recordedInstrument } from '../instruments.ts'
import type { Catalog } from '../lean/catalog.ts'
import { Session } from '../sessions.ts'
import type { ReplaySetting } from '../setting.ts'
import {
  type Bar,
  type BarsQuery,
  type Delivery,
  type FeedCommand,
  type Instrument,
  MARKETS,
  type Market,
  type MarketControl,
  type MarketGroup,
  type OptionFigures,
  UnknownSymbol
} from '../types.ts'
import { type RecordedContract, recordedContracts } from './contracts.ts'
import { FollowedContracts } from './followed.ts'
import { RecordedHistory } from './history.ts'
import { isWanted, type Programme, programme } from './programme.ts'
import { Tape, type TapeFile } from './tape.ts'

/** A delivery ends after the instant in which it reaches this many commands. */
const PORTION = 4_096
/** Minutes kept for the open bar: two days of trading around the clock. */
const LIVE_MINUTES_MAX = 2_880
/** The size shown at a price set through the control API. */
const CONTROL_SIZES = { STK: '1000', CRYPTO: '10', OPT: '10', FUT: '10' } as const

type Intervention =
  | { readonly at: Micros; readonly type: 'price'; readonly instrument: Instrument; readonly price: bigint }
  | { readonly at: Micros; readonly type: 'halt'; readonly symbol: string; readonly halted: boolean }
  | { readonly at: Micros; readonly type: 'pause'; readonly paused: boolean }

interface Listed {
  readonly instrument: Instrument
  /** The recordings of the symbol. */
  readonly files: readonly TapeFile[]
  readonly seconds: BarSeries
  readonly minutes: BarSeries
}

/**
 * Opens the files of the setting and reads up to the start.
 * @throws Malformed if the folder does not have them, BadMarketData if a file is damaged
 */
export async function openReplay(catalog: Catalog, setting: ReplaySetting, calendar: CalendarChoice): Promise<Replay> {
  const plan = programme(catalog, setting)
  const all = await recordedContracts(catalog, plan, calendar)
  const contracts = new Map([...all].filter(([, { instrument }]) => isWantedContract(setting, instrument)))
  // Quotes before trades of the same instant: a print happens at the shown prices.
  const tapes = [
    ...plan.parts.map(part => new Tape(part.quotes, plan.window)),
    ...plan.parts.map(part => new Tape(part.trades, plan.window))
  ]
  try {
    for (const tape of tapes) await tape.refill()
  } catch (fault) {
    for (const tape of tapes) await tape.close()
    throw fault
  }
  const firsts = tapes.length > 0 ? tapes.map(tape => tape.head?.at ?? plan.window.to) : [plan.window.from]
  const startsAt = setting.at === null ? Math.min(...firsts) : plan.start
  return new Replay({ catalog, plan, contracts, tapes, calendar, startsAt })
}

/** Contracts are selected by their own symbol, or by their underlying's or root's. */
function isWantedContract(setting: ReplaySetting, { symbol, option, future }: Instrument): boolean {
  return isWanted(setting, symbol) || isWanted(setting, option?.underlying ?? future?.root ?? symbol)
}

interface Parts {
  readonly catalog: Catalog
  readonly plan: Programme
  readonly contracts: ReadonlyMap<string, RecordedContract>
  readonly tapes: readonly Tape[]
  readonly calendar: CalendarChoice
  readonly startsAt: Micros
}

export class Replay implements Market {
  readonly kind = 'replay'
  readonly instruments: readonly Instrument[]
  readonly startsAt: Micros
  readonly endsAt: Micros
  /** Tapes of symbols that are always delivered: quotes, then trades. */
  readonly #standing: readonly Tape[]
  /** The same plus the followed contracts' tapes: all quotes before all trades. */
  #tapes: readonly Tape[]
  readonly #closing: Tape[] = []
  readonly #contracts: ReadonlyMap<string, RecordedContract>
  readonly #followed: FollowedContracts
  readonly #sessions: readonly Session[]
  readonly #history = new RecordedHistory()
  readonly #listed: Map<string, Listed>
  readonly #interventions: Intervention[] = []
  readonly #halted = new Set<string>()
  /** The last quote of each symbol that arrived while its prices were withheld. */
  readonly #withheld = new Map<string, QuoteCommand>()
  #paused = false
  #begun = false
  #through: Micros

  /** Use {@link openReplay}. */
  constructor({ catalog, plan, contracts, tapes, calendar, startsAt }: Parts) {
    this.instruments = plan.parts.map(part => recordedInstrument(part, calendar))
    this.startsAt = startsAt
    this.endsAt = plan.window.to
    this.#through = startsAt - 1
    this.#standing = tapes
    this.#tapes = tapes
    this.#contracts = contracts
    this.#followed = new FollowedContracts(contracts, plan.window)
    const traded = [...this.instruments, ...[...contracts.values()].map(({ instrument }) => instrument)]
    this.#sessions = MARKETS.filter(group => traded.some(({ market }) => market === group)).map(group => new Session(group, calendar))
    this.#listed = new Map(
      this.instruments.map(instrument => [
        instrument.symbol,
        listed(
          instrument,
          catalog.files.filter(file => file.symbol === instrument.symbol)
        )
      ])
    )
  }

  /**
   * With an `until` of infinity: up to the end of the recording.
   * @throws BadMarketData if a file is damaged
   */
  async next(asked: Micros): Promise<Delivery> {
    const until = asked === Number.POSITIVE_INFINITY ? this.endsAt : asked
    const commands: FeedCommand[] = []
    if (!this.#begun && until >= this.startsAt) await this.#begin(commands)
    if (!this.#begun) return { commands, through: until }
    await this.#change(until, commands)
    for (;;) {
      const tape = this.#earliest()
      const session = this.#dueSession()
      const [intervention] = this.#interventions
      const sessionAt = session?.due.at ?? Number.POSITIVE_INFINITY
      const tapeAt = tape?.head?.at ?? Number.POSITIVE_INFINITY
      const event = this.#followed.due
      const eventAt = event?.at ?? Number.POSITIVE_INFINITY
      const at = Math.min(sessionAt, tapeAt, eventAt, intervention?.at ?? Number.POSITIVE_INFINITY)
      const full = commands.length >= PORTION && at > (commands.at(-1)?.at ?? at)
      if (at > until || at === Number.POSITIVE_INFINITY || full) {
        this.#through = Math.max(this.#through, full ? Math.min(until, at - 1) : until)
        return { commands, through: this.#through }
      }
      if (session !== null && sessionAt === at) {
        session.session.delivered(session.due)
        commands.push(session.due)
      } else if (event !== null && eventAt === at) {
        for (const command of this.#followed.take(event)) commands.push(command)
        this.unfollow(event.ended)
      } else if (tape?.head != null && tapeAt === at) {
        this.#play(tape.head, commands)
        tape.take()
        if (tape.head === null) await tape.refill()
      } else if (intervention !== undefined) {
        this.#interventions.shift()
        this.#intervene(intervention, commands)
      }
    }
  }

  find(symbol: string, at: Micros): Instrument | null {
    const contract = this.#contracts.get(symbol)
    if (contract !== undefined) return contract.lastTradeAt > at ? contract.instrument : null
    return this.#listed.get(symbol)?.instrument ?? null
  }

  futures(at: Micros): readonly Instrument[] {
    return this.#existing(at).filter(({ kind }) => kind === 'FUT')
  }

  expirations(underlying: string, at: Micros): readonly string[] {
    const options = this.#existing(at).flatMap(({ option }) => (option?.underlying === underlying ? [option.expiration] : []))
    return [...new Set(options)]
  }

  chain(underlying: string, expiration: string, at: Micros): readonly Instrument[] {
    return this.#existing(at).filter(({ option }) => option?.underlying === underlying && option.expiration === expiration)
  }

  follow(symbols: Iterable<string>): void {
    this.#followed.follow(symbols)
  }

  unfollow(symbols: Iterable<string>): void {
    this.#closing.push(...this.#followed.unfollow(symbols))
    this.#order()
  }

  figures(symbol: string, at: Micros): OptionFigures | null {
    return this.#followed.figures(symbol, at)
  }

  priceOf(symbol: string): Decimal | null {
    return this.#followed.priceOf(symbol)
  }

  async bars(query: BarsQuery): Promise<readonly Bar[]> {
    const { instrument, seconds, minutes, files } = this.#find(query.symbol)
    const live = (query.interval === '1s' ? seconds : minutes).since(0)
    // Days of futures are recorded as UTC days.
    const zone = instrument.kind === 'STK' || instrument.kind === 'OPT' ? NEW_YORK : 'UTC'
    return this.#history.bars(query, { files, zone, live })
  }

  phaseAt(market: MarketGroup, at: Micros): ReturnType<Market['phaseAt']> {
    const session = this.#session(market)
    return { phase: session.phaseAt(at), nextChange: session.nextChange(at) }
  }

  readonly control: MarketControl = {
    setPrice: (symbol, text, at) => {
      const { instrument } = this.#find(symbol)
      this.#schedule({ at: this.#effective(at), type: 'price', instrument, price: checkedPrice(instrument, text) })
    },
    setHalted: (symbol, halted, at) => {
      this.#find(symbol)
      this.#schedule({ at: this.#effective(at), type: 'halt', symbol, halted })
    },
    setPaused: (paused, at) => this.#schedule({ at: this.#effective(at), type: 'pause', paused }),
    isPaused: () => this.#paused,
    forcePhase: (market, phase, at) => this.#session(market).force(phase, this.#effective(at))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const tape of [...this.#tapes, ...this.#closing]) await tape.close()
  }

  /** Opens and closes the tapes of contracts followed or dropped since the last delivery. */
  async #change(until: Micros, commands: FeedCommand[]): Promise<void> {
    for (const tape of this.#closing.splice(0)) await tape.close()
    const at = this.#through + 1
    if (this.#followed.asked.size === 0 || at > until) return
    // All its prints are published, even if it was followed before.
    for (const symbol of this.#followed.asked) this.#listed.delete(symbol)
    await this.#followed.open(at, commands, command => this.#remember(command))
    this.#order()
  }

  #order(): void {
    const { quotes, trades } = this.#followed.tapes()
    const firstTrade = this.#standing.length / 2
    this.#tapes = [...this.#standing.slice(0, firstTrade), ...quotes, ...this.#standing.slice(firstTrade), ...trades]
  }

  #existing(at: Micros): readonly Instrument[] {
    return [...this.#contracts.values()].filter(({ lastTradeAt }) => lastTradeAt > at).map(({ instrument }) => instrument)
  }

  /** Skips the records before the start, and shows the market as of the start. */
  async #begin(commands: FeedCommand[]): Promise<void> {
    this.#begun = true
    for (let tape = this.#earliest(); tape?.head != null && tape.head.at < this.startsAt; tape = this.#earliest()) {
      if (tape.head.type === 'quote') this.#withheld.set(tape.head.symbol, tape.head)
      this.#remember(tape.head)
      tape.take()
      if (tape.head === null) await tape.refill()
    }
    for (const session of this.#sessions) {
      const due = session.due(this.startsAt)
      session.delivered(due)
      commands.push(due)
    }
    this.#release(this.startsAt, commands)
  }

  #play(command: FeedCommand, commands: FeedCommand[]): void {
    if (command.type !== 'quote' && command.type !== 'trade') return
    if (!this.#paused && !this.#halted.has(command.symbol)) {
      this.#remember(command)
      commands.push(command)
    } else if (command.type === 'quote') this.#withheld.set(command.symbol, command)
  }

  #remember(command: FeedCommand): void {
    this.#followed.remember(command)
    if (command.type !== 'trade') return
    const listed = this.#known(command.symbol)
    listed?.seconds.add(command)
    listed?.minutes.add(command)
  }

  #intervene(intervention: Intervention, commands: FeedCommand[]): void {
    const { at } = intervention
    switch (intervention.type) {
      case 'price':
        for (const command of shownPrice(intervention.instrument, intervention.price, at, CONTROL_SIZES[intervention.instrument.kind]))
          this.#play(command, commands)
        return
      case 'halt': {
        const { symbol, halted } = intervention
        if (halted) this.#halted.add(symbol)
        else this.#halted.delete(symbol)
        commands.push({ type: 'halt', at, symbol, halted })
        break
      }
      case 'pause':
        this.#paused = intervention.paused
    }
    if (!this.#paused) this.#release(at, commands)
  }

  /** Shows the current quotes again for symbols whose prices have resumed. */
  #release(at: Micros, commands: FeedCommand[]): void {
    for (const [symbol, quote] of this.#withheld) {
      if (this.#halted.has(symbol)) continue
      this.#withheld.delete(symbol)
      commands.push({ ...quote, at })
    }
  }

  #earliest(): Tape | null {
    let earliest: Tape | null = null
    let at = Number.POSITIVE_INFINITY
    for (const tape of this.#tapes) {
      const head = tape.head
      if (head !== null && head.at < at) {
        earliest = tape
        at = head.at
      }
    }
    return earliest
  }

  #dueSession(): { readonly session: Session; readonly due: SessionCommand } | null {
    let next: { readonly session: Session; readonly due: SessionCommand } | null = null
    for (const session of this.#sessions) {
      const due = session.due(this.#through)
      if (next === null || due.at < next.due.at) next = { session, due }
    }
    return next
  }

  #schedule(intervention: Intervention): void {
    const index = this.#interventions.findLastIndex(({ at }) => at <= intervention.at)
    this.#interventions.splice(index + 1, 0, intervention)
  }

  #effective(at: Micros): Micros {
    return Math.max(at, this.#through + 1)
  }

  #find(symbol: string): Listed {
    const found = this.#known(symbol)
    if (found === null) throw new UnknownSymbol(symbol)
    return found
  }

  #known(symbol: string): Listed | null {
    const known = this.#listed.get(symbol)
    if (known !== undefined) return known
    const contract = this.#contracts.get(symbol)
    if (contract === undefined) return null
    const made = listed(contract.instrument, contract.files)
    this.#listed.set(symbol, made)
    return made
  }

  #session(market: MarketGroup): Session {
    return this.#sessions.find(session => session.market === market) ?? new Session(market, 'always')
  }
}

function listed(instrument: Instrument, files: readonly TapeFile[]): Listed {
  return { instrument, files, seconds: new BarSeries(1_000_000, 2), minutes: new BarSeries(60_000_000, LIVE_MINUTES_MAX) }
}
