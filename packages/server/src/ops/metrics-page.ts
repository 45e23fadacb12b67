const FRESH_MS = 1_000
/** Later callers do not wait longer than this for a rendering. */
const HANGS_MS = 10_000

/** The metrics at one moment. */
export interface MetricsSnapshot {
  /** The number of renderings. */
  readonly number: number
  readonly text: string
}

interface Rendering {
  readonly goodUntil: number
  readonly snapshot: Promise<MetricsSnapshot>
}

/**
 * The text of the metrics, rendered at most once a second and one at a time, for any number of callers: rendering costs more than an order.
 */
export class MetricsPage {
  readonly #render: () => Promise<string>
  readonly #monotonicMs: () => number
  #rendered: Rendering | null = null
  #count = 0

  constructor(render: () => Promise<string>, monotonicMs: () => number) {
    this.#render = render
    this.#monotonicMs = monotonicMs
  }

  /** @throws what rendering throws; the next caller tries again. */
  read(): Promise<MetricsSnapshot> {
    const now = this.#monotonicMs()
    if (this.#rendered !== null && now < this.#rendered.goodUntil) return this.#rendered.snapshot
    this.#count += 1
    const number = this.#count
    const snapshot = this.#render().then(text => ({ number, text }))
    // All callers of a slow rendering share it; one that hangs does not delay later callers.
    const rendering = { goodUntil: now + HANGS_MS, snapshot }
    this.#rendered = rendering
    snapshot.then(
      () => this.#keep(rendering, { goodUntil: now + FRESH_MS, snapshot }),
      () => this.#keep(rendering, null)
    )
    return snapshot
  }

  #keep(rendering: Rendering, next: Rendering | null): void {
    if (this.#rendered === rendering) this.#rendered = next
  }
}
