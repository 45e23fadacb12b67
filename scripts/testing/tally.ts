// What passed, what failed and what could not run, and how that is said at the end.

/** Counts over all parts of a run. Mutable: the parts report as they go. */
export class Tally {
  #passed = 0
  readonly #failures: string[] = []
  readonly #impossible: string[] = []

  pass(count = 1): void {
    this.#passed += count
  }

  /** `what` is short: the story was printed when it happened. */
  fail(what: string): void {
    this.#failures.push(what)
  }

  /** A part that could not run at all, with the reason. It counts as failed. */
  cannotRun(what: string, reason: string): void {
    this.#impossible.push(`${what}: ${reason}`)
  }

  get failed(): number {
    return this.#failures.length + this.#impossible.length
  }

  get succeeded(): boolean {
    return this.failed === 0 && this.#passed > 0
  }

  /** The last lines of a run; the very last is `N passed, N failed`. */
  summary(): string {
    const lines: string[] = []
    if (this.#failures.length > 0) lines.push('Failed:', ...this.#failures.map(what => `  ${what}`), '')
    if (this.#impossible.length > 0) lines.push('Could not run:', ...this.#impossible.map(what => `  ${what}`), '')
    if (this.#passed === 0 && this.failed === 0) lines.push('Nothing was tested.', '')
    lines.push(`${this.#passed} passed, ${this.failed} failed`)
    return lines.join('\n')
  }
}
