// What all pages of the documentation have around their content.
import { type Html, markup } from './html.ts'

/** In the order in which they are loaded. */
export const STYLES = ['style.css', 'samples.css', 'search.css'] as const
const PLACES = [
  ['/docs', 'Reference'],
  ['/docs/guides', 'Guides'],
  ['/docs/errors', 'Errors'],
  ['/docs/live', 'Live market']
] as const

/** The page with this title. `here`: the address of the part that it belongs to. Without scripts it shows all that it shows with them. */
export function framed(title: string, here: string, content: Html): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Trunkline</title>
${STYLES.map(name => markup`<link rel="stylesheet" href="/docs/${name}">\n`)}<script type="module" src="/docs/client/main.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar"><a href="/">Trunkline</a><nav aria-label="Documentation">${PLACES.map(([path, name]) => link(path, name, here))}</nav></header>
<div class="columns">
${content}
</div>
</body>
</html>
`.html
}

function link(path: string, name: string, here: string): Html {
  return markup`<a href="${path}"${path === here ? markup` aria-current="page"` : ''}>${name}</a>`
}
