/** Random draws as a function of their coordinates: the same seed, symbol and coordinates always give the same draw, in any order. */

/** A draw of 32 bits for the coordinates `a`, `b`, `c` under a key. */
export function draw(key: number, a: number, b = 0, c = 0): number {
  let hash = Math.imul(key ^ mix(a), 0x9e3779b1)
  hash = Math.imul(hash ^ mix(b + 0x7f4a7c15), 0x85ebca6b)
  return mix(hash ^ mix(c + 0x165667b1))
}

/** A key of 32 bits for a text, such as a seed and a symbol. */
export function keyOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash)
}

// The finaliser of a well-mixed 32-bit hash: every input bit reaches every output bit.
function mix(value: number): number {
  let hash = value | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d)
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b)
  return (hash ^ (hash >>> 16)) >>> 0
}
