/** Rows of text as an aligned table; the first row is the heading. */
export function table(rows: readonly (readonly string[])[], indent = '  '): string {
  const [head = []] = rows
  const widths = head.map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  const line = (row: readonly string[]) =>
    indent +
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const rule = indent + widths.map(width => '─'.repeat(width)).join('  ')
  return [line(head), rule, ...rows.slice(1).map(line)].join('\n')
}
