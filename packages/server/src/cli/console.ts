/** What a command runs with: the environment, the outputs and a signal to stop. */
export interface Console {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Whether `err` is a terminal, so that progress may be redrawn in place. */
  readonly isTerminal: boolean
  out(text: string): void
  err(text: string): void
}

/** Options of every command. */
export interface Common {
  readonly json?: boolean
}

/** A command failed. The reason was printed already, or is the message. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  readonly exitCode: number

  constructor(exitCode: number, message = '') {
    super(message)
    this.exitCode = exitCode
  }
}

export function outJson(console: Console, value: unknown): void {
  console.out(`${JSON.stringify(value, null, 2)}\n`)
}

/** Rows as text, in columns two spaces apart. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  return rows
    .map(
      row =>
        `${row
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`
    )
    .join('')
}

/** A timestamp cut to whole seconds. */
export function shownTime(time: string): string {
  return `${time.slice(0, 19)}Z`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
