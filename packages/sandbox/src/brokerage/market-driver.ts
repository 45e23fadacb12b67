/** Feeds the market to the engine: on a timer, and at once after the control API moved the market or the clock. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Micros, QuoteCommand } from '../engine/types.ts'
import type { FeedCommand, Market } from '../market/types.ts'
import type { BrokerageClock } from './clock.ts'
import type { BrokerageState } from './state.ts'

const EVERY_MS = 50
const HOUR: Micros = 3_600_000_000
const RESTORED = ['list_instrument', 'quote', 'halt'] as const
/** Sandbox time between checks for orders past their time in force. */
const TICK_EVERY: Micros = 60_000_000
/**
 * While it has readers, a market far ahead is read in ranges of this length: longer ones are fed in so few updates that the minutes within
 * would differ from those of its history.
 */
const READ_STRIDE: Micros = 5 * HOUR
/** … unless it is so far ahead that processing every minute would take too long. */
const READ_AHEAD_MAX: Micros = 8 * 24 * HOUR

/** Receives every market command after the engine has processed it. */
export interface MarketListener {
  /** Whether the listener has readers. */
  readonly busy: boolean
  readonly onCommand: (command: FeedCommand) => void
  /** Everything up to and including this instant has been delivered. */
  readonly reach: (through: Micros) => void
}

export interface MarketDriverDeps {
  readonly market: Market
  readonly state: BrokerageState
  readonly clock: BrokerageClock
  readonly listener: MarketListener
  /** Whether the market is delivered at full speed, and the clock follows it. */
  readonly atFullSpeed: boolean
  /** Receives failures of the market: the sandbox continues with the prices it has. */
  readonly onError: (error: unknown) => void
}

export class MarketDriver {
  readonly #deps: MarketDriverDeps
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #queued = false
  #stopped = false
  #ticked: Micros = 0
  #reached: Micros = 0
  /** The latest state of the market: phases, halts and order books, without the prints before it. */
  readonly #last = new Map<string, FeedCommand>()

  constructor(deps: MarketDriverDeps) {
    this.#deps = deps
  }

  /** Everything up to and including this instant has been delivered. */
  get reached(): Micros {
    return this.#reached
  }

  /** Fetches the current market, without its history if the state is further along already, then advances by itself. */
  async start(): Promise<void> {
    const { state, clock, market } = this.#deps
    if (market.startsAt !== null && state.latest > market.startsAt) await this.#catchUp(state.latest)
    if (this.leadsClock) clock.freeze(true)
    await this.#advance(clock.now())
    this.#timer = setInterval(() => void this.now(), EVERY_MS)
    this.#timer.unref()
  }

  /** Feeds everything up to the present; calls that wait at the same time share the result. */
  now(): Promise<void> {
    if (this.#queued || this.#stopped) return this.#running
    this.#queued = true
    this.#running = this.#running.then(async () => {
      this.#queued = false
      try {
        await this.#step()
      } catch (error) {
        this.#deps.onError(error)
      }
    })
    return this.#running
  }

  /**
   * Like `now`, after the control API moved the market: that takes effect after the last delivered instant, which may be this one. So the
   * clock must advance first; a frozen one makes the smallest step.
   */
  async afresh(): Promise<void> {
    const { clock } = this.#deps
    const moved = clock.now()
    if (clock.frozen) clock.jump(moved + 1)
    while (clock.now() <= moved && !clock.frozen) await yieldToEventLoop()
    await this.now()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#running
  }

  async #step(): Promise<void> {
    const { clock, market, atFullSpeed } = this.#deps
    if (!atFullSpeed || market.endsAt === null) return this.#advance(clock.now())
    const { commands, through } = await market.next(Math.max(market.endsAt, clock.now()))
    clock.jump(Math.min(Math.max(through, clock.now()), market.endsAt))
    this.#run(commands, through)
    if (through < market.endsAt) setImmediate(() => void this.now())
  }

  async #advance(until: Micros): Promise<void> {
    for (;;) {
      const { commands, through } = await this.#deps.market.next(this.#stretch(until))
      this.#run(commands, through)
      if (through >= until || this.#stopped) break
      // Lets requests run between portions.
      await yieldToEventLoop()
    }
    if (until - this.#ticked < TICK_EVERY) return
    this.#ticked = until
    this.#deps.state.run({ type: 'tick', at: until })
  }

  #stretch(until: Micros): Micros {
    const ahead = until - this.#reached
    return this.#deps.listener.busy && ahead < READ_AHEAD_MAX ? Math.min(until, this.#reached + READ_STRIDE) : until
  }

  /** Applies the current market to a new state. */
  refill(): void {
    const standing = [...this.#last.values()].sort((a, b) => a.at - b.at)
    for (const command of standing) this.#deps.state.run(command)
  }

  /** Recorded time that the state has processed already: only the market's state at its end matters. */
  async #catchUp(until: Micros): Promise<void> {
    for (;;) {
      const { commands, through } = await this.#deps.market.next(until)
      for (const command of commands) {
        this.#store(command)
        // Expired before it was followed: its holders are notified now.
        if (command.type === 'expire') this.#deps.state.run(command)
      }
      if (through >= until) break
    }
    this.refill()
  }

  /** Applies a market command of the control API. */
  show(command: FeedCommand): void {
    this.#store(command)
    this.#deps.state.run(command)
    this.#deps.listener.onCommand(command)
  }

  /** The symbols whose trading is halted. */
  get halted(): readonly string[] {
    return [...this.#last.values()].flatMap(last => (last.type === 'halt' && last.halted ? [last.symbol] : []))
  }

  /** Whether the clock stands still but for the market, as it does where that is delivered at full speed. */
  get leadsClock(): boolean {
    return this.#deps.atFullSpeed
  }

  lastQuote(symbol: string): QuoteCommand | undefined {
    const last = this.#last.get(`quote ${symbol}`)
    return last?.type === 'quote' ? last : undefined
  }

  /** Drops these symbols: they are no longer fed, nor applied to a new state. */
  forget(symbols: Iterable<string>): void {
    for (const symbol of symbols) for (const type of RESTORED) this.#last.delete(`${type} ${symbol}`)
  }

  #run(commands: readonly FeedCommand[], through: Micros): void {
    for (const command of commands) this.show(command)
    this.#reached = through
    this.#deps.listener.reach(through)
  }

  #store(command: FeedCommand): void {
    switch (command.type) {
      case 'session':
        this.#last.set(`session ${command.market}`, command)
        break
      case 'list_instrument':
        this.#last.set(`list_instrument ${command.spec.symbol}`, command)
        break
      case 'quote':
      case 'halt':
        this.#last.set(`${command.type} ${command.symbol}`, command)
        break
      case 'expire':
        this.forget([command.symbol])
        break
      case 'trade':
      case 'settle':
        break
    }
  }
}
