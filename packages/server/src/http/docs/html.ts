// HTML templates that escape every value.

/** HTML that is safe as content and as a quoted attribute. */
export interface Html {
  readonly html: string
}

/** Plain text in which backquotes mark `code`. */
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

/** A template tag. Values are escaped unless they are already `Html`. */
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
