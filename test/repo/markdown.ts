// What a Markdown text holds that can be checked: links, headings, and commands.

export interface Link {
  readonly target: string
  readonly line: number
}

/** Links and images outside code, in order. */
export function linksIn(markdown: string): readonly Link[] {
  const links: Link[] = []
  for (const [index, line] of withoutCode(markdown).split('\n').entries()) {
    const inline = line.matchAll(/\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)
    const defined = line.matchAll(/^\s{0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?/g)
    for (const [, target = ''] of [...inline, ...defined]) links.push({ target, line: index + 1 })
  }
  return links
}

/** The lines of prose that are longer than `columns`: outside code, tables, and lines that hold a single link or word. */
export function longLinesIn(markdown: string, columns: number): readonly number[] {
  return withoutFences(markdown)
    .split('\n')
    .flatMap((line, index) => (line.length > columns && !/^\s*\|/.test(line) && /\S\s+\S/.test(line.trim()) ? [index + 1] : []))
}

/** The names that a link can point to after `#`: headings as code forges turn them into names, and explicit ones. */
export function anchorsIn(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const line of withoutFences(markdown).split('\n')) {
    for (const [, name = ''] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) anchors.add(name)
    const heading = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1]
    if (heading === undefined) continue
    const name = anchorOf(heading)
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    anchors.add(count === 0 ? name : `${name}-${count}`)
  }
  return anchors
}

function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

/** Same length in lines, with fenced blocks emptied. */
function withoutFences(markdown: string): string {
  let fence: string | null = null
  return markdown
    .split('\n')
    .map(line => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
      if (mark !== undefined && (fence === null || mark.startsWith(fence))) {
        fence = fence === null ? mark : null
        return ''
      }
      return fence === null ? line : ''
    })
    .join('\n')
}

function withoutCode(markdown: string): string {
  return withoutFences(markdown).replaceAll(/(`+)[^`\n]+\1/g, '')
}
