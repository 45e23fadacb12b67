import { line } from './stats.ts'

/** One thing that was measured; `reached` is null where the project set no target. */
export interface Figure {
  readonly what: string
  readonly found: string
  readonly target: string
  readonly reached: boolean | null
}

/** Figures as they are found, printed at once, and in the end as the table that is recorded. */
export class Figures {
  readonly #columns: readonly string[]
  readonly #rows = new Map<string, { readonly found: Map<string, string>; target: string }>()

  /** @param columns what the figures were found on, such as the engines */
  constructor(columns: readonly string[]) {
    this.#columns = columns
  }

  add(column: string, { what, found, target, reached }: Figure): void {
    const row = this.#rows.get(what) ?? { found: new Map<string, string>(), target }
    row.found.set(column, found)
    this.#rows.set(what, row)
    process.stdout.write(`${line(what, found, target, reached)}\n`)
  }

  /** In Markdown; empty without figures. */
  table(): string {
    if (this.#rows.size === 0) return ''
    const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
    const lines = [...this.#rows].map(([what, { found, target }]) =>
      row([what, ...this.#columns.map(column => found.get(column) ?? '–'), target === '' ? '–' : target])
    )
    return [row(['Figure', ...this.#columns, 'Target']), row(['---', ...this.#columns.map(() => '---'), '---']), ...lines, ''].join('\n')
  }
}
