/** A parsed query: the text of each parameter, or its error. */
export type QueryTexts = Readonly<Record<string, string | QueryFlaw>>

export const REPEATED = Symbol('given more than once')
export const UNDECODABLE = Symbol('not decodable')
export type QueryFlaw = typeof REPEATED | typeof UNDECODABLE

/**
 * Splits a query strictly. Values that are not percent-encoded UTF-8, and repeated parameters, are marked as errors. The result has no
 * prototype, so that names such as `__proto__` are ordinary keys.
 */
export function parseQuery(text: string): QueryTexts {
  const texts: Record<string, string | QueryFlaw> = Object.create(null)
  if (text === '') return texts
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const written = at === -1 ? pair : pair.slice(0, at)
    const name = decoded(written) ?? written
    texts[name] = name in texts ? REPEATED : (decoded(at === -1 ? '' : pair.slice(at + 1)) ?? UNDECODABLE)
  }
  return texts
}

function decoded(text: string): string | null {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return null
  }
}
