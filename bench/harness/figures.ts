import { line } from './stats.ts'

/** One measured figure; `reached` is null if the project has no target for it. */
export interface Figure {
  readonly what: string
  readonly found: string
  readonly target: string
  readonly reached: boolean | null
}

/** Figures in the order of measurement: each is printed at once, and all at the end as the table to record. */
export class Figures {
  readonly #columns: readonly string[]
  readonly #rows = new Map<string, { readonly found: Map<string, string>; target: string }>()

  /** @param columns the subjects of the figures, such as the engines */
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
