// Renders the subset of Markdown that the guides use: headings, paragraphs, lists, tables, code, emphasis and links. A test checks that the
// guides use nothing else.
import { type Html, markup } from '../html.ts'

export interface Rendered {
  readonly title: string
  /** The first paragraph. */
  readonly lead: Html
  /** Everything below the title. */
  readonly body: Html
}

/** Returns the address for a link; null if its target is not served. */
export type Resolve = (target: string) => string | null

const FENCE = /^ {0,4}```/
const HEADING = /^(#{1,3}) (.*)$/
const ITEM = /^( *)(?:-|\d+\.) (.*)$/
const ROW = /^\|(.*)\|$/
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s](?:[^*]*[^*\s])?)\*|<(https?:\/\/[^>\s]+)>|\[([^\]]+)\]\(([^)]+)\)/g

export function rendered(text: string, resolve: Resolve): Rendered {
  const blocks = blocksOf(text.split('\n'), resolve)
  const [, title = ''] = /^# (.*)$/m.exec(text) ?? []
  const lead = blocks.find(({ kind }) => kind === 'p')?.html ?? markup``
  return { title, lead, body: markup`${blocks.filter(({ kind }) => kind !== 'h1').map(({ html }) => html)}` }
}

/** The anchor that GitHub gives a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

interface Block {
  readonly kind: 'h1' | 'h' | 'p' | 'list' | 'table' | 'code'
  readonly html: Html
}

function blocksOf(lines: readonly string[], resolve: Resolve): readonly Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const count = lengthOf(lines.slice(at))
    if (line.trim() !== '') blocks.push(blockOf(lines.slice(at, at + count), resolve))
    at += count
  }
  return blocks
}

/** The number of lines in the block that begins at the first line. */
function lengthOf(lines: readonly string[]): number {
  const [first = ''] = lines
  if (FENCE.test(first)) return 2 + lines.slice(1).findIndex(line => FENCE.test(line))
  if (first.trim() === '' || HEADING.test(first)) return 1
  const isOver = (line: string) => line.trim() === '' || FENCE.test(line) || HEADING.test(line) || (!ITEM.test(first) && ITEM.test(line))
  const rest = lines.slice(1).findIndex(isOver)
  return rest === -1 ? lines.length : rest + 1
}

function blockOf(lines: readonly string[], resolve: Resolve): Block {
  const [first = ''] = lines
  if (FENCE.test(first)) return { kind: 'code', html: markup`<pre tabindex="0"><code>${lines.slice(1, -1).join('\n')}</code></pre>\n` }
  const [, level, heading = ''] = HEADING.exec(first) ?? []
  if (level === '#') return { kind: 'h1', html: markup`` }
  if (level !== undefined) return { kind: 'h', html: headingOf(level.length, heading, resolve) }
  if (ITEM.test(first)) return { kind: 'list', html: listOf(itemsOf(lines), /^\d/.test(first), resolve) }
  if (ROW.test(first)) return { kind: 'table', html: tableOf(lines, resolve) }
  return { kind: 'p', html: markup`<p>${inline(lines.join(' '), resolve)}</p>\n` }
}

function headingOf(level: number, text: string, resolve: Resolve): Html {
  const content = inline(text, resolve)
  return level === 2 ? markup`<h2 id="${anchorOf(text)}">${content}</h2>\n` : markup`<h3 id="${anchorOf(text)}">${content}</h3>\n`
}

interface Item {
  text: string
  readonly below: Item[]
}

/** The guides nest lists one level deep at most. */
function itemsOf(lines: readonly string[]): readonly Item[] {
  const items: Item[] = []
  for (const line of lines) {
    const [, indent = '', text] = ITEM.exec(line) ?? []
    const last = items.at(-1)
    if (text === undefined) {
      const open = last?.below.at(-1) ?? last
      if (open !== undefined) open.text += ` ${line.trim()}`
    } else if (indent !== '' && last !== undefined) last.below.push({ text, below: [] })
    else items.push({ text, below: [] })
  }
  return items
}

function listOf(items: readonly Item[], isNumbered: boolean, resolve: Resolve): Html {
  const rows = items.map(
    ({ text, below }) => markup`<li>${inline(text, resolve)}${below.length === 0 ? '' : listOf(below, false, resolve)}</li>\n`
  )
  return isNumbered ? markup`<ol>\n${rows}</ol>\n` : markup`<ul>\n${rows}</ul>\n`
}

function tableOf(lines: readonly string[], resolve: Resolve): Html {
  const [head = [], , ...rows] = lines.map(line => cellsOf(line))
  return markup`<div class="wide" role="group" tabindex="0" aria-label="Table"><table>
<thead><tr>${head.map(cell => (cell === '' ? markup`<td></td>` : markup`<th scope="col">${inline(cell, resolve)}</th>`))}</tr></thead>
<tbody>
${rows.map(row => markup`<tr>${row.map(cell => markup`<td>${inline(cell, resolve)}</td>`)}</tr>\n`)}</tbody>
</table></div>
`
}

function cellsOf(line: string): readonly string[] {
  return (ROW.exec(line)?.[1] ?? '')
    .replaceAll('\\|', '\u0000')
    .split('|')
    .map(cell => cell.trim().replaceAll('\u0000', '|'))
}

function inline(text: string, resolve: Resolve): Html {
  const parts: Html[] = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, bare, label, target] = match
    parts.push(markup`${text.slice(from, match.index)}`)
    if (code !== undefined) parts.push(markup`<code>${code}</code>`)
    else if (strong !== undefined) parts.push(markup`<strong>${inline(strong, resolve)}</strong>`)
    else if (emphasis !== undefined) parts.push(markup`<em>${inline(emphasis, resolve)}</em>`)
    else if (bare !== undefined) parts.push(linkOf(markup`${bare}`, resolve(bare)))
    else parts.push(linkOf(inline(label ?? '', resolve), resolve(target ?? '')))
    from = match.index + whole.length
  }
  return markup`${[...parts, markup`${text.slice(from)}`]}`
}

function linkOf(label: Html, address: string | null): Html {
  return address === null ? label : markup`<a href="${address}">${label}</a>`
}
