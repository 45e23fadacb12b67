// Filters in the address: always text. The router’s own way reads `007` as a number, and ids would change.

/** Filters of a page, by name. */
export type Filters = Readonly<Record<string, string>>

/** `?user=007&after=2` as filters. */
export function parseFilters(search: string): Filters {
  return Object.fromEntries(new URLSearchParams(search))
}

/** Filters as `?user=007&after=2`, or nothing. Members without a text are left out. */
export function filtersText(filters: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(filters).flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [[name, value]] : []))
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** Only the filters that a page knows. */
export function filtersOf<Name extends string>(names: readonly Name[]): (search: Record<string, unknown>) => { [name in Name]?: string } {
  return search => {
    const known: { [name in Name]?: string } = {}
    for (const name of names) {
      const value = search[name]
      if (typeof value === 'string' && value !== '') known[name] = value
    }
    return known
  }
}
