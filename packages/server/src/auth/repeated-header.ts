/** Headers whose repetition two readers of a request could interpret differently. By length, so that most names need no comparison. */
const SINGLE: ReadonlyMap<number, readonly string[]> = Map.groupBy(
  ['host', 'client-id', 'client-secret', 'user-id', 'user-secret', 'authorization', 'content-type', 'origin', 'upgrade'],
  ({ length }) => length
)

/** The name of a header that is repeated although it may occur once; null if there is none. */
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
