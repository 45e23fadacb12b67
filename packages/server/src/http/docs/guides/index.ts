// Serves the guides in `docs/guides` as web pages, so that users can read them without a checkout.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../../../ops/static-text.ts'
import { framed } from '../frame.ts'
import { type Html, markup } from '../html.ts'
import { anchorOf, rendered } from './markdown.ts'

const FOLDER = new URL('../../../../../../docs/guides/', import.meta.url)
const LINK = /\[([^\][]+)\]\(([^()\s]+)\)/g
/** The reading order. Guides not listed here follow, sorted by name. */
const ORDER = ['connect', 'orders', 'stream', 'webhooks', 'market-data', 'sandbox', 'brokers', 'operating', 'versions']

/** Mounts `/docs/guides` and a page for each guide. Does nothing if the installation has no guides. */
export function serveGuides(app: FastifyInstance, headers: Readonly<Record<string, string>>): void {
  if (!existsSync(FOLDER)) return
  const names = guideNames()
  serveText(
    app,
    '/docs/guides',
    () => listPage(names),
    () => headers
  )
  for (const name of names)
    serveText(
      app,
      `/docs/guides/${name}`,
      () => guidePage(name, names),
      () => headers
    )
  for (const name of names)
    serveText(
      app,
      `/docs/guides/${name}.md`,
      () => markdownOf(name, names),
      () => ({ 'content-type': 'text/markdown; charset=utf-8' })
    )
}

/** The guides and their sections, for the search. */
export function guideEntries() {
  return guideNames().flatMap(name => {
    const text = textOf(name)
    const title = titleOf(name)
    const [, ...sections] = text.split(/^## /m)
    const entryOfSection = (section: string) => {
      const [heading = ''] = section.split('\n', 1)
      return {
        title: heading.replaceAll('`', ''),
        href: `/docs/guides/${name}#${anchorOf(heading)}`,
        about: title,
        words: section.toLowerCase()
      }
    }
    return [{ title, href: `/docs/guides/${name}`, about: 'Guide', words: '' }, ...sections.map(entryOfSection)]
  })
}

export function titleOf(name: string): string {
  return /^# (.*)$/m.exec(textOf(name))?.[1] ?? name
}

/** The first paragraph, as Markdown on one line without links. */
export function leadOf(name: string): string {
  const [, lead = ''] = textOf(name).split(/\n{2,}/)
  return lead.replace(LINK, '$1').replaceAll('\n', ' ')
}

/**
 * The Markdown of a guide, without links to files that are not served. Its links to other guides are relative, unless it is to stand
 * elsewhere than beside them: then they begin with `publicUrl`.
 */
export function markdownOf(name: string, names: readonly string[] = guideNames(), publicUrl: string | null = null): string {
  return textOf(name).replace(LINK, (whole, label: string, target: string) => {
    const address = addressOf(target, names)
    if (address === null) return label
    if (publicUrl === null || address.startsWith('https://')) return whole
    return address.startsWith('#') ? label : `[${label}](${publicUrl}${address.replace(/(#|$)/, '.md$1')})`
  })
}

function textOf(name: string): string {
  return readFileSync(new URL(`${name}.md`, FOLDER), 'utf8')
}

/** The file names of the guides, without `.md`. Empty if the installation has none. */
export function guideNames(): readonly string[] {
  const found = (existsSync(FOLDER) ? readdirSync(FOLDER) : [])
    .filter(file => file.endsWith('.md'))
    .map(file => file.slice(0, -'.md'.length))
  return [...ORDER.filter(name => found.includes(name)), ...found.filter(name => !ORDER.includes(name)).sort()]
}

/** The page of one guide. `names` are those of all guides, for the links between them. */
export function guidePage(name: string, names: readonly string[]): string {
  const { title, body } = guideOf(name, names)
  return framed(
    title,
    '/docs/guides',
    markup`<nav class="contents" tabindex="0" aria-label="Guides"><details>
<summary>Guides</summary>
<ul>
${names.map(other => markup`<li><a href="/docs/guides/${other}"${other === name ? markup` aria-current="page"` : ''}>${guideOf(other, names).title}</a></li>\n`)}</ul>
</details></nav>
<main id="content" class="guide">
<h1>${title}</h1>
${body}</main>`
  )
}

function listPage(names: readonly string[]): string {
  return framed(
    'Guides',
    '/docs/guides',
    markup`<main id="content" class="guide">
<h1>Guides</h1>
<dl class="guides">
${names.map(name => entryOf(name, names))}</dl>
</main>`
  )
}

function entryOf(name: string, names: readonly string[]): Html {
  const { title, lead } = guideOf(name, names)
  return markup`<div><dt><a href="/docs/guides/${name}">${title}</a></dt><dd>${lead}</dd></div>\n`
}

function guideOf(name: string, names: readonly string[]) {
  return rendered(textOf(name), target => addressOf(target, names))
}

/** Guides may link to each other, to their own headings and to the web. Other files of the repository are not served. */
function addressOf(target: string, names: readonly string[]): string | null {
  if (target.startsWith('https://') || target.startsWith('#')) return target
  const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(target) ?? []
  return names.includes(name) ? `/docs/guides/${name}${anchor}` : null
}
