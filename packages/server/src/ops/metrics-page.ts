const FRESH_MS = 1_000

/** The metrics as they were at one moment. */
export interface MetricsSnapshot {
  /** Counts up with every rendering. */
  readonly number: number
  readonly text: string
}

/** The text of the metrics, rendered at most once a second and by one at a time, however many ask: rendering costs more than many an order. */
export class MetricsPage {
  readonly #render: () => Promise<string>
  readonly #monotonicMs: () => number
  #rendered: { readonly at: number; readonly snapshot: Promise<MetricsSnapshot> } | null = null
  #count = 0

  constructor(render: () => Promise<string>, monotonicMs: () => number) {
    this.#render = render
    this.#monotonicMs = monotonicMs
  }

  /** @throws what rendering throws; the next one who asks has it tried again. */
  read(): Promise<MetricsSnapshot> {
    const now = this.#monotonicMs()
    if (this.#rendered !== null && now - this.#rendered.at < FRESH_MS) return this.#rendered.snapshot
    this.#count += 1
    const number = this.#count
    const snapshot = this.#render().then(text => ({ number, text }))
    // A rendering that takes longer than a second is the same for all who ask meanwhile.
    const rendering = { at: Number.POSITIVE_INFINITY, snapshot }
    this.#rendered = rendering
    snapshot.then(
      () => this.#keep(rendering, { at: now, snapshot }),
      () => this.#keep(rendering, null)
    )
    return snapshot
  }

  #keep(rendering: object, next: { readonly at: number; readonly snapshot: Promise<MetricsSnapshot> } | null): void {
    if (this.#rendered === rendering) this.#rendered = next
  }
}
