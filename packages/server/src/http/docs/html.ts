// HTML written by hand, so that what is put into it cannot break out.

/** Text that is safe inside HTML, as content and as a quoted attribute. */
export interface Html {
  readonly html: string
}

/** Plain text with `code` in it. */
export function richText(text: string): Html {
  return {
    html: text
      .split('`')
      .map((part, at) => (at % 2 === 0 ? escaped(part) : `<code>${escaped(part)}</code>`))
      .join('')
  }
}

export function joined(parts: readonly Html[]): Html {
  return { html: parts.map(({ html }) => html).join(', ') }
}

type Piece = string | Html | readonly Html[]

/** A template whose values are escaped, unless they are HTML already. */
export function markup(strings: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return { html: strings.reduce((text, string, at) => `${text}${rendered(values[at - 1] ?? '')}${string}`) }
}

function rendered(piece: Piece): string {
  if (typeof piece === 'string') return escaped(piece)
  return 'html' in piece ? piece.html : piece.map(({ html }) => html).join('')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? character)
}
