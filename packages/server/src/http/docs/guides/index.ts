// Serves the guides in `docs/guides`, and the READMEs of the project and of the client, as web pages, so that users can read them without a
// checkout.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../../../ops/static-text.ts'
import { framed } from '../frame.ts'
import { type Html, markup } from '../html.ts'
import { anchorOf, rendered } from './markdown.ts'

const ROOT = new URL('../../../../../../', import.meta.url)
const FOLDER = new URL('docs/guides/', ROOT)
const LINK = /\[([^\][]+)\]\(([^()\s]+)\)/g
/** Documents of the repository that are guides, too. `file`: where its links begin; `served`: where an installation has its text. */
const READMES: ReadonlyMap<string, { readonly file: string; readonly served: string; readonly title: string }> = new Map([
  ['start', { file: 'README.md', served: 'README.md', title: 'Start' }],
  ['client', { file: 'packages/client/README.md', served: 'packages/client/dist/README.md', title: 'The TypeScript client' }]
])
/** Where the documents say that the service is: the one that serves them. */
const HERE = /^http:\/\/127\.0\.0\.1:8080(?=\/)/
/** The reading order. Guides not listed here follow, sorted by name. */
const ORDER = ['start', 'connect', 'orders', 'stream', 'webhooks', 'market-data', 'client', 'sandbox', 'brokers', 'operating', 'versions']

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
  return READMES.get(name)?.title ?? /^# (.*)$/m.exec(textOf(name))?.[1] ?? name
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
    const address = addressOf(target, name, names)
    if (address === null) return label
    if (address.startsWith('https://')) return whole
    if (address.startsWith('#')) return publicUrl === null ? whole : label
    const markdown = address.startsWith('/docs/guides/') ? address.replace(/(#|$)/, '.md$1') : address
    return `[${label}](${publicUrl === null ? markdown.replace('/docs/guides/', '') : publicUrl + markdown})`
  })
}

function textOf(name: string): string {
  return readFileSync(sourceOf(name), 'utf8')
}

function sourceOf(name: string): URL {
  const readme = READMES.get(name)
  return readme === undefined ? new URL(`${name}.md`, FOLDER) : new URL(readme.served, ROOT)
}

/** The names of the guides, as in their addresses. Empty if the installation has none. */
export function guideNames(): readonly string[] {
  const found = (existsSync(FOLDER) ? readdirSync(FOLDER) : [])
    .filter(file => file.endsWith('.md'))
    .map(file => file.slice(0, -'.md'.length))
    .concat([...READMES.keys()].filter(name => existsSync(sourceOf(name))))
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
  return { ...rendered(textOf(name), target => addressOf(target, name, names)), title: titleOf(name) }
}

/** Guides may link to each other, to their own headings, to this service and to the web. Other files of the repository are not served. */
function addressOf(target: string, from: string, names: readonly string[]): string | null {
  if (target.startsWith('https://') || target.startsWith('#')) return target
  if (HERE.test(target)) return target.replace(HERE, '')
  const { pathname, hash } = new URL(target, `https://repository.invalid/${fileOf(from)}`)
  const name = names.find(other => `/${fileOf(other)}` === pathname)
  return name === undefined ? null : `/docs/guides/${name}${hash}`
}

/** In the repository. */
function fileOf(name: string): string {
  return READMES.get(name)?.file ?? `docs/guides/${name}.md`
}
