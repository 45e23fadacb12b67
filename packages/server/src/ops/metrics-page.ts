const FRESH_MS = 1_000
/** A rendering that has not ended by then is not waited for by those who ask later. */
const HANGS_MS = 10_000

/** The metrics as they were at one moment. */
export interface MetricsSnapshot {
  /** Counts up with every rendering. */
  readonly number: number
  readonly text: string
}

interface Rendering {
  readonly goodUntil: number
  readonly snapshot: Promise<MetricsSnapshot>
}

/** The text of the metrics, rendered at most once a second and by one at a time, however many ask: rendering costs more than many an order. */
export class MetricsPage {
  readonly #render: () => Promise<string>
  readonly #monotonicMs: () => number
  #rendered: Rendering | null = null
  #count = 0

  constructor(render: () => Promise<string>, monotonicMs: () => number) {
    this.#render = render
    this.#monotonicMs = monotonicMs
  }

  /** @throws what rendering throws; the next one who asks has it tried again. */
  read(): Promise<MetricsSnapshot> {
    const now = this.#monotonicMs()
    if (this.#rendered !== null && now < this.#rendered.goodUntil) return this.#rendered.snapshot
    this.#count += 1
    const number = this.#count
    const snapshot = this.#render().then(text => ({ number, text }))
    // A rendering that takes longer than a second is the same for all who ask meanwhile; one that hangs does not hold up later ones.
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
