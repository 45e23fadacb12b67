import type { Bar } from '../../domain/market/records.ts'
import type { BarFeed, BarListener } from './bar-feed.ts'
import type { Watch, Watcher } from './watcher.ts'

/** A subscription to one bar feed: past bars first, then live bars, each closed bar once. */
export class BarWatch implements Watch, BarListener {
  readonly #feed: BarFeed
  readonly #past: readonly Bar[]
  readonly #backfill: number
  readonly #ended: () => void
  #watcher: Watcher | null = null
  /** The start of the last closed bar that was sent; earlier bars are not sent again. */
  #lastClosedMs = Number.NEGATIVE_INFINITY
  #isOver = false

  /** @param past closed bars, ascending; at least `backfill` if there are so many */
  constructor(feed: BarFeed, past: readonly Bar[], { backfill, ended }: { readonly backfill: number; readonly ended: () => void }) {
    this.#feed = feed
    this.#past = past
    this.#backfill = backfill
    this.#ended = ended
  }

  begin(watcher: Watcher): void {
    if (this.#isOver) return
    this.#watcher = watcher
    for (const bar of this.#first()) this.bar(bar)
    this.#feed.add(this)
    const open = this.#feed.open()
    if (open !== null) this.bar(open)
    if (!this.#feed.isLive) watcher.interrupted('the connection to the broker was lost while the subscription was made')
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#feed.remove(this)
    this.#ended()
  }

  bar(bar: Bar): void {
    if (bar.startMs <= this.#lastClosedMs) return
    if (bar.closed) this.#lastClosedMs = bar.startMs
    this.#watcher?.bar(bar)
  }

  interrupted(reason: string): void {
    this.#watcher?.interrupted(reason)
  }

  /** Bars from history, and those that have closed since it was read. */
  #first(): readonly Bar[] {
    if (this.#backfill === 0) return []
    const first = this.#past[0]?.startMs ?? Number.POSITIVE_INFINITY
    const byStart = new Map<number, Bar>()
    for (const bar of this.#feed.recent) if (bar.startMs >= first || this.#past.length === 0) byStart.set(bar.startMs, bar)
    for (const bar of this.#past) byStart.set(bar.startMs, bar)
    return [...byStart.values()].toSorted((a, b) => a.startMs - b.startMs).slice(-this.#backfill)
  }
}
