const SEARCH_LENGTH_MAX = 64

/** The search text of a query, cut to its maximum length. Empty if there is none, which matches everything. */
export function searchIn(query: unknown): string {
  const text: unknown = typeof query === 'object' && query !== null ? Reflect.get(query, 'search') : null
  return typeof text === 'string' ? text.trim().slice(0, SEARCH_LENGTH_MAX) : ''
}

/** Whether a broker's name or id contains every word of the search, regardless of case, accents and order. */
export function isSearched({ id, name }: { readonly id: string; readonly name: string }, search: string): boolean {
  const known = plain(`${name} ${id}`)
  return plain(search)
    .split(/\s+/)
    .every(word => known.includes(word))
}

function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase('en')
}
