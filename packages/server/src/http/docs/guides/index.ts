// Serves the guides in `docs/guides` as web pages, so that users can read them without a checkout.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { serveText } from '../../../ops/static-text.ts'
import { type Html, markup } from '../html.ts'
import { rendered } from './markdown.ts'

const FOLDER = new URL('../../../../../../docs/guides/', import.meta.url)
/** The reading order. Guides not listed here follow, sorted by name. */
const ORDER = ['connect', 'orders', 'stream', 'market-data', 'sandbox', 'brokers', 'operating']

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
}

/** The file names of the guides, without `.md`. */
export function guideNames(): readonly string[] {
  const found = readdirSync(FOLDER)
    .filter(file => file.endsWith('.md'))
    .map(file => file.slice(0, -'.md'.length))
  return [...ORDER.filter(name => found.includes(name)), ...found.filter(name => !ORDER.includes(name)).sort()]
}

/** The page of one guide. `names` are those of all guides, for the links between them. */
export function guidePage(name: string, names: readonly string[]): string {
  const { title, body } = guideOf(name, names)
  return frame(
    title,
    markup`<nav aria-label="Guides"><details>
<summary>Guides</summary>
<ul>
${names.map(other => markup`<li><a href="/docs/guides/${other}"${other === name ? markup` aria-current="page"` : ''}>${guideOf(other, names).title}</a></li>\n`)}</ul>
</details></nav>
<main id="content" class="guide">
<h1>${title}</h1>
${body}</main>`
  ).html
}

function listPage(names: readonly string[]): string {
  return frame(
    'Guides',
    markup`<main id="content" class="guide">
<h1>Guides</h1>
<dl class="guides">
${names.map(name => entryOf(name, names))}</dl>
</main>`
  ).html
}

function entryOf(name: string, names: readonly string[]): Html {
  const { title, lead } = guideOf(name, names)
  return markup`<div><dt><a href="/docs/guides/${name}">${title}</a></dt><dd>${lead}</dd></div>\n`
}

function guideOf(name: string, names: readonly string[]) {
  return rendered(readFileSync(new URL(`${name}.md`, FOLDER), 'utf8'), target => addressOf(target, names))
}

/** Guides may link to each other, to their own headings and to the web. Other files of the repository are not served. */
function addressOf(target: string, names: readonly string[]): string | null {
  if (target.startsWith('https://') || target.startsWith('#')) return target
  const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(target) ?? []
  return names.includes(name) ? `/docs/guides/${name}${anchor}` : null
}

function frame(title: string, content: Html): Html {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Trunkline</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar"><a href="/">Trunkline</a> <a href="/docs">Reference</a> <a href="/docs/guides">Guides</a></header>
<div class="columns">
${content}
</div>
</body>
</html>
`
}
