/** The first line of every generated page. */
export const GENERATED = '<!-- Written by `npm run cli -- docs`; changes made here are lost. -->'

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |\n`
  return `${line(head)}|${head.map(() => '---|').join('')}\n${rows.map(line).join('')}`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
}

export function code(text: string): string {
  return `\`${text}\``
}
