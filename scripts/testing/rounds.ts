// The results of repeated runs of test files. A test that does not pass every time is unsteady.
import { nameOf } from './report.ts'
import type { FileResult } from './run-file.ts'

const MESSAGE_CHARS_MAX = 300

/** The failed tests, how often each failed, and its first message. Mutable: results are added round by round. */
export class Rounds {
  readonly #failed = new Map<string, { times: number; readonly message: string }>()
  readonly #impossible: string[] = []
  #passed = 0
  #rounds = 0

  add(result: FileResult): void {
    this.#passed += result.passed
    for (const failure of result.failures) {
      const what = nameOf(result.path, failure)
      const known = this.#failed.get(what)
      if (known === undefined) this.#failed.set(what, { times: 1, message: onOneLine(failure.details) })
      else known.times += 1
    }
  }

  /** Call at the end of each round that was not interrupted. */
  ended(): void {
    this.#rounds += 1
  }

  /** Adds a file that cannot run at all, with the reason. */
  impossible(path: string, reason: string): void {
    this.#impossible.push(`${path}: ${reason}`)
  }

  /** Whether there was at least one full round, and everything passed in every round. */
  get isSteady(): boolean {
    return this.#rounds > 0 && this.#passed > 0 && this.#failed.size === 0 && this.#impossible.length === 0
  }

  /** Most frequent failures first. `load` describes the load; `outputFolder` has the full outputs. */
  summary(load: string, outputFolder: string): string {
    const lines = this.#impossible.length > 0 ? ['Could not run:', ...this.#impossible.map(what => `  ${what}`), ''] : []
    const failed = [...this.#failed].toSorted(([a, one], [b, other]) => other.times - one.times || a.localeCompare(b))
    if (failed.length > 0) lines.push(`Unsteady (the outputs are in ${outputFolder}):`)
    for (const [what, { times, message }] of failed) lines.push(`  ${times} of ${this.#rounds}  ${what}`, `          ${message}`)
    if (failed.length > 0) lines.push('')
    return [...lines, `${this.#rounds} rounds, ${this.#passed} tests passed, ${failed.length} unsteady (${load}).`].join('\n')
  }
}

function onOneLine(details: string): string {
  const text = details.replaceAll(/\s+/g, ' ').trim()
  return text.length > MESSAGE_CHARS_MAX ? `${text.slice(0, MESSAGE_CHARS_MAX)} …` : text
}
