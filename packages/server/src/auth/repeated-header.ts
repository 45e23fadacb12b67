/** Headers of which a second one would let two readers of a request see two different ones. By length, so that most need no closer look. */
const SINGLE: ReadonlyMap<number, readonly string[]> = Map.groupBy(
  ['host', 'client-id', 'client-secret', 'user-id', 'user-secret', 'authorization', 'content-type', 'origin', 'upgrade'],
  ({ length }) => length
)

/** The name of a header that may be there once and is there twice; null when there is none. */
export function repeatedHeader(rawHeaders: readonly string[]): string | null {
  let seen = ''
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? ''
    const candidates = SINGLE.get(given.length)
    if (candidates === undefined) continue
    const name = given.toLowerCase()
    if (!candidates.includes(name)) continue
    if (seen.includes(`${name}\n`)) return name
    seen += `${name}\n`
  }
  return null
}
