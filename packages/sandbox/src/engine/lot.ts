/** Draws lots: the same text gives the same order on every machine. */

/** The items in an order that the seed decides. mulberry32 is small and sufficiently uniform. */
export function drawn<T>(items: readonly T[], seed: string): T[] {
  const next = numbers(hashOf(seed))
  const left = items.slice()
  for (let at = left.length - 1; at > 0; at--) {
    const other = next() % (at + 1)
    const [a, b] = [left[at], left[other]]
    if (a === undefined || b === undefined) continue
    left[at] = b
    left[other] = a
  }
  return left
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
