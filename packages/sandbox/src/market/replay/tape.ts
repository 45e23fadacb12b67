/** One symbol's recorded quotes or trades as a tape of commands, read ahead in small parts, file after file. */
import { regularSession, usEquityCalendar } from '@trunkline/core/domain/calendar/index'
import type { Micros } from '../../engine/types.ts'
import { listingOf } from '../instruments.ts'
import { quoteBars, type Resolution, type RowFile, tradeBars, tradeTicks } from '../lean/rows.ts'
import { saleEffects } from '../lean/sale-conditions.ts'
import type { FeedCommand } from '../types.ts'
import { barPrints, barQuotes, tickPrint } from './expand.ts'

const LENGTHS: { readonly [Name in Exclude<Resolution, 'tick'>]: Micros } = {
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
  daily: 86_400_000_000
}

/** A recorded file of quotes or trades of one symbol. */
export interface TapeFile {
  readonly symbol: string
  readonly data: 'trade' | 'quote'
  readonly rows: RowFile
}

/** Keeps one part of a file (some thousand commands) at a time. */
export class Tape {
  readonly #pieces: AsyncIterator<readonly FeedCommand[]>
  #piece: readonly FeedCommand[] = []
  #next = 0
  #ended = false

  /** @param files one symbol's files of one kind, ascending; @param window rows outside it are skipped */
  constructor(files: readonly TapeFile[], window: { readonly from: Micros; readonly to: Micros }) {
    this.#pieces = pieces(files, window)
  }

  /** The next command, without removing it; null if it needs a {@link refill}, or has {@link ended}. */
  get head(): FeedCommand | null {
    return this.#piece[this.#next] ?? null
  }

  get ended(): boolean {
    return this.#ended
  }

  take(): void {
    this.#next++
  }

  /** @throws BadMarketData */
  async refill(): Promise<void> {
    while (this.head === null && !this.#ended) {
      const step = await this.#pieces.next()
      this.#ended = step.done === true
      this.#piece = step.done === true ? [] : step.value
      this.#next = 0
    }
  }

  async close(): Promise<void> {
    this.#ended = true
    this.#piece = []
    await this.#pieces.return?.()
  }
}

async function* pieces(
  files: readonly TapeFile[],
  { from, to }: { readonly from: Micros; readonly to: Micros }
): AsyncGenerator<readonly FeedCommand[]> {
  for (const file of files)
    for await (const piece of commands(file)) {
      const inside = piece.filter(command => command.at >= from && command.at < to)
      if (inside.length > 0) yield inside
      if ((piece.at(-1)?.at ?? 0) >= to) return
    }
}

async function* commands(file: TapeFile): AsyncGenerator<readonly FeedCommand[]> {
  const { symbol, rows } = file
  const { resolution } = rows
  if (resolution === 'tick') {
    const effectOf = saleEffects(listingOf(symbol))
    for await (const ticks of tradeTicks(rows)) yield ticks.flatMap(tick => tickPrint(symbol, tick, effectOf(tick)))
    return
  }
  const place = placement(rows, LENGTHS[resolution])
  if (file.data === 'trade')
    for await (const bars of tradeBars(rows))
      yield bars.flatMap(bar => {
        const { at, length } = place(bar.at)
        return barPrints(symbol, { ...bar, at }, length)
      })
  else
    for await (const bars of quoteBars(rows))
      yield bars.flatMap(bar => {
        const { at, length } = place(bar.at)
        return barQuotes(symbol, { ...bar, at }, length)
      })
}

// Hour and daily bars of shares cover only the regular session, so their prints belong in it.
function placement({ asset, resolution }: RowFile, length: Micros): (at: Micros) => { readonly at: Micros; readonly length: Micros } {
  if (asset !== 'equity' || (resolution !== 'hour' && resolution !== 'daily')) return at => ({ at, length })
  const calendar = usEquityCalendar()
  return at => {
    const session = regularSession(calendar, calendar.dateAt(at / 1_000))
    if (session === null) return { at, length }
    const start = Math.max(at, session.start * 1_000)
    const end = Math.min(at + length, session.end * 1_000)
    return end > start ? { at: start, length: end - start } : { at, length }
  }
}
