/** Brings the market to the engine: on a timer, and at once when somebody has moved the market or the clock by hand. */

import { setImmediate as turn } from 'node:timers/promises'
import type { MarketCommand, Micros } from '../engine/types.ts'
import type { Market } from '../market/types.ts'
import type { Books } from './books.ts'
import type { HouseClock } from './clock.ts'

const EVERY_MS = 50
/** House time between looks at orders that have outlived their time. */
const TICK_EVERY: Micros = 60_000_000

export interface PumpDeps {
  readonly market: Market
  readonly books: Books
  readonly clock: HouseClock
  /** The market is brought as fast as it comes, and the clock follows it. */
  readonly atFullSpeed: boolean
  /** A failure of the market: the house goes on with the prices it has. */
  readonly onTrouble: (error: unknown) => void
}

export class Pump {
  readonly #deps: PumpDeps
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #queued = false
  #stopped = false
  #ticked: Micros = 0
  /** Where the market was left: phases, halts and books, without the prints that led there. */
  readonly #last = new Map<string, MarketCommand>()

  constructor(deps: PumpDeps) {
    this.#deps = deps
  }

  /** Fetches the present market, without what led to it when the books are further along already, then goes on by itself. */
  async start(): Promise<void> {
    const { books, clock, market } = this.#deps
    if (market.startsAt !== null && books.latest > market.startsAt) await this.#catchUp(books.latest)
    if (this.#deps.atFullSpeed) clock.freeze(true)
    await this.#advance(clock.now())
    this.#timer = setInterval(() => void this.now(), EVERY_MS)
    this.#timer.unref()
  }

  /** Brings everything up to the present; calls while one waits are answered together. */
  now(): Promise<void> {
    if (this.#queued || this.#stopped) return this.#running
    this.#queued = true
    this.#running = this.#running.then(async () => {
      this.#queued = false
      try {
        await this.#step()
      } catch (error) {
        this.#deps.onTrouble(error)
      }
    })
    return this.#running
  }

  /**
   * As `now`, after the market was moved by hand: that takes effect after the last moment that was brought, which may be this very one. So the
   * clock has to go on first; one that stands makes the smallest step.
   */
  async afresh(): Promise<void> {
    const { clock } = this.#deps
    const moved = clock.now()
    if (clock.frozen) clock.jump(moved + 1)
    while (clock.now() <= moved && !clock.frozen) await turn()
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
    this.#run(commands)
    if (through < market.endsAt) setImmediate(() => void this.now())
  }

  async #advance(until: Micros): Promise<void> {
    for (;;) {
      const { commands, through } = await this.#deps.market.next(until)
      this.#run(commands)
      if (through >= until || this.#stopped) break
      // Requests get their turn between portions.
      await turn()
    }
    if (until - this.#ticked < TICK_EVERY) return
    this.#ticked = until
    this.#deps.books.run({ type: 'tick', at: until })
  }

  /** Shows fresh books the market as it is. */
  refill(): void {
    const standing = [...this.#last.values()].sort((a, b) => a.at - b.at)
    for (const command of standing) this.#deps.books.run(command)
  }

  /** Recorded time that the books have lived through already: only where it left the market matters. */
  async #catchUp(until: Micros): Promise<void> {
    for (;;) {
      const { commands, through } = await this.#deps.market.next(until)
      for (const command of commands) this.#keep(command)
      if (through >= until) break
    }
    this.refill()
  }

  #run(commands: readonly MarketCommand[]): void {
    for (const command of commands) {
      this.#keep(command)
      this.#deps.books.run(command)
    }
  }

  #keep(command: MarketCommand): void {
    if (command.type === 'session') this.#last.set(`session ${command.market}`, command)
    else if (command.type !== 'trade') this.#last.set(`${command.type} ${command.symbol}`, command)
  }
}
