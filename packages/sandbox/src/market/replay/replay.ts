/** The market as it was recorded: every tape merged by time, with sessions and interventions between them. */
import type { MarketCommand, Micros, QuoteCommand, SessionCommand } from '../../engine/types.ts'
import { BarSeries } from '../bar-series.ts'
import { checkedPrice, shownPrice } from '../control-price.ts'
import { recordedInstrument } from '../instruments.ts'
import type { Catalog } from '../lean/catalog.ts'
import { type CalendarChoice, Session } from '../sessions.ts'
import type { ReplaySetting } from '../setting.ts'
import {
  type Bar,
  type BarsQuery,
  type Delivery,
  type Instrument,
  MARKETS,
  type Market,
  type MarketControl,
  type MarketGroup,
  UnknownSymbol
} from '../types.ts'
import { RecordedHistory } from './history.ts'
import { type Programme, programme } from './programme.ts'
import { Tape } from './tape.ts'

/** A delivery ends behind the instant in which it reaches so many commands. */
const PORTION = 4_096
/** Minutes kept for the bar that is still open: two days of trading around the clock. */
const LIVE_MINUTES_MAX = 2_880
/** Shown at a price set by hand. */
const CONTROL_SIZES = { STK: '1000', CRYPTO: '10', OPT: '10', FUT: '10' } as const

type Intervention =
  | { readonly at: Micros; readonly type: 'price'; readonly instrument: Instrument; readonly price: bigint }
  | { readonly at: Micros; readonly type: 'halt'; readonly symbol: string; readonly halted: boolean }
  | { readonly at: Micros; readonly type: 'pause'; readonly paused: boolean }

interface Listed {
  readonly instrument: Instrument
  readonly seconds: BarSeries
  readonly minutes: BarSeries
}

/**
 * Opens what the setting asks for and reads up to where it begins.
 * @throws Malformed when the folder does not hold it, BadMarketData when a file is damaged
 */
export async function openReplay(catalog: Catalog, setting: ReplaySetting, calendar: CalendarChoice): Promise<Replay> {
  const plan = programme(catalog, setting)
  // Quotes before trades of the same instant: a print happens at the prices shown.
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
  const first = Math.min(...tapes.map(tape => tape.head?.at ?? plan.window.to))
  return new Replay({ catalog, plan, tapes, calendar, startsAt: setting.at === null ? first : plan.start })
}

interface Parts {
  readonly catalog: Catalog
  readonly plan: Programme
  readonly tapes: readonly Tape[]
  readonly calendar: CalendarChoice
  readonly startsAt: Micros
}

export class Replay implements Market {
  readonly kind = 'replay'
  readonly instruments: readonly Instrument[]
  readonly startsAt: Micros
  readonly endsAt: Micros
  readonly #tapes: readonly Tape[]
  readonly #sessions: readonly Session[]
  readonly #history: RecordedHistory
  readonly #listed: ReadonlyMap<string, Listed>
  readonly #interventions: Intervention[] = []
  readonly #halted = new Set<string>()
  /** The last quote of each symbol that came while its prices were not to come. */
  readonly #withheld = new Map<string, QuoteCommand>()
  #paused = false
  #begun = false
  #through: Micros

  /** Use {@link openReplay}. */
  constructor({ catalog, plan, tapes, calendar, startsAt }: Parts) {
    this.instruments = plan.parts.map(({ symbol, asset, venue }) => recordedInstrument(symbol, asset, venue))
    this.startsAt = startsAt
    this.endsAt = plan.window.to
    this.#through = startsAt - 1
    this.#tapes = tapes
    this.#sessions = MARKETS.filter(group => this.instruments.some(({ market }) => market === group)).map(
      group => new Session(group, calendar)
    )
    this.#history = new RecordedHistory(catalog)
    const minute = 60_000_000
    this.#listed = new Map(
      this.instruments.map(instrument => [
        instrument.symbol,
        { instrument, seconds: new BarSeries(1_000_000, 2), minutes: new BarSeries(minute, LIVE_MINUTES_MAX) }
      ])
    )
  }

  /**
   * With an `until` of infinity: up to the end of the recording.
   * @throws BadMarketData where a file turns out to be damaged
   */
  async next(asked: Micros): Promise<Delivery> {
    const until = asked === Number.POSITIVE_INFINITY ? this.endsAt : asked
    const commands: MarketCommand[] = []
    if (!this.#begun && until >= this.startsAt) await this.#begin(commands)
    if (!this.#begun) return { commands, through: until }
    for (;;) {
      const tape = this.#earliest()
      const session = this.#dueSession()
      const [intervention] = this.#interventions
      const sessionAt = session?.due.at ?? Number.POSITIVE_INFINITY
      const tapeAt = tape?.head?.at ?? Number.POSITIVE_INFINITY
      const at = Math.min(sessionAt, tapeAt, intervention?.at ?? Number.POSITIVE_INFINITY)
      const full = commands.length >= PORTION && at > (commands.at(-1)?.at ?? at)
      if (at > until || at === Number.POSITIVE_INFINITY || full) {
        this.#through = Math.max(this.#through, full ? Math.min(until, at - 1) : until)
        return { commands, through: this.#through }
      }
      if (session !== null && sessionAt === at) {
        session.session.told(session.due)
        commands.push(session.due)
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

  async bars(query: BarsQuery): Promise<readonly Bar[]> {
    const { instrument, seconds, minutes } = this.#find(query.symbol)
    const live = query.interval === '1s' ? seconds : minutes
    return this.#history.bars(query, instrument.kind === 'STK' ? 'America/New_York' : 'UTC', live.since(0))
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
    forcePhase: (market, phase, at) => this.#session(market).force(phase, this.#effective(at))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const tape of this.#tapes) await tape.close()
  }

  /** Passes over what lies before the start, and shows the market as it stood there. */
  async #begin(commands: MarketCommand[]): Promise<void> {
    this.#begun = true
    for (let tape = this.#earliest(); tape?.head != null && tape.head.at < this.startsAt; tape = this.#earliest()) {
      if (tape.head.type === 'quote') this.#withheld.set(tape.head.symbol, tape.head)
      this.#remember(tape.head)
      tape.take()
      if (tape.head === null) await tape.refill()
    }
    for (const session of this.#sessions) {
      const due = session.due(this.startsAt)
      session.told(due)
      commands.push(due)
    }
    this.#release(this.startsAt, commands)
  }

  #play(command: MarketCommand, commands: MarketCommand[]): void {
    if (command.type !== 'quote' && command.type !== 'trade') return
    if (!this.#paused && !this.#halted.has(command.symbol)) {
      this.#remember(command)
      commands.push(command)
    } else if (command.type === 'quote') this.#withheld.set(command.symbol, command)
  }

  #remember(command: MarketCommand): void {
    if (command.type !== 'trade') return
    const listed = this.#listed.get(command.symbol)
    listed?.seconds.add(command.at, command.price, command.size)
    listed?.minutes.add(command.at, command.price, command.size)
  }

  #intervene(intervention: Intervention, commands: MarketCommand[]): void {
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

  /** Shows again what is quoted now where prices have come back. */
  #release(at: Micros, commands: MarketCommand[]): void {
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
    const listed = this.#listed.get(symbol)
    if (listed === undefined) throw new UnknownSymbol(symbol)
    return listed
  }

  #session(market: MarketGroup): Session {
    return this.#sessions.find(session => session.market === market) ?? new Session(market, 'always')
  }
}
