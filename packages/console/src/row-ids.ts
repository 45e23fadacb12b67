// Ids of the rows of a table.

/**
 * As many ids, each once: a row whose id another one has too would be drawn again and again, and what left would stay on the page.
 * Clients choose request ids, so two can be the same. Counted from the last row on, since new rows come first.
 */
export function distinctIds(ids: readonly string[]): readonly string[] {
  const seen = new Map<string, number>()
  return ids
    .toReversed()
    .map(id => {
      const count = (seen.get(id) ?? 0) + 1
      seen.set(id, count)
      return JSON.stringify([id, count])
    })
    .toReversed()
}
