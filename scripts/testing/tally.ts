// The passed, failed and impossible parts of a run, and the report at its end.
import { nameOf } from './report.ts'
import { OUTPUT_FOLDER, type Verdict } from './second-tries.ts'

/** Counts over all parts of a run. Mutable: the parts report as they go. */
export class Tally {
  #passed = 0
  readonly #failures: string[] = []
  readonly #impossible: string[] = []
  readonly #unsteady: string[] = []

  pass(count = 1): void {
    this.#passed += count
  }

  /** `what` is short, because the details were printed already. */
  fail(what: string): void {
    this.#failures.push(what)
  }

  /** Counts a file once, by its last try. */
  judge({ result, first }: Verdict): void {
    this.#passed += result.passed
    this.#failures.push(...result.failures.map(failure => nameOf(result.path, failure)))
    if (first === null || result.failures.length > 0) return
    this.#unsteady.push(...first.failures.map(failure => nameOf(first.path, failure)))
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

  /** The last lines of a run; the final one is `N passed, N failed`. */
  summary(): string {
    const lines: string[] = []
    const list = (title: string, what: readonly string[]) => {
      if (what.length > 0) lines.push(title, ...what.map(line => `  ${line}`), '')
    }
    list('Failed:', this.#failures)
    list('Could not run:', this.#impossible)
    list(`Unsteady, each failed beside other files and passed alone (both outputs: ${OUTPUT_FOLDER}):`, this.#unsteady)
    if (this.#passed === 0 && this.failed === 0) lines.push('Nothing was tested.', '')
    lines.push(`${this.#passed} passed, ${this.failed} failed`)
    return lines.join('\n')
  }
}
