/** Pauses that grow with every failure in a row, each drawn from the upper half of its bound, so that many who fail together do not return together. */
export class Backoff {
  readonly #firstMs: number
  readonly #longestMs: number
  readonly #fraction: () => number
  #failures = 0

  constructor(limits: { readonly firstMs: number; readonly longestMs: number }, fraction: () => number) {
    this.#firstMs = limits.firstMs
    this.#longestMs = limits.longestMs
    this.#fraction = fraction
  }

  /** How long to pause after one more failure, in milliseconds. */
  next(): number {
    const boundMs = Math.min(this.#longestMs, this.#firstMs * 2 ** Math.min(this.#failures, 30))
    this.#failures += 1
    return (boundMs * (1 + this.#fraction())) / 2
  }

  /** It went well: the next failure is a first one. */
  reset(): void {
    this.#failures = 0
  }
}
