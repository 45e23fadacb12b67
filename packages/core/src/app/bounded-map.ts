/** Where the eviction from a full map stopped. */
interface Eviction {
  /** The keys from there on, oldest first. */
  readonly keys: Iterator<unknown>
  /** How often something was set since then without an eviction. */
  unused: number
}

const evictions = new WeakMap<object, Eviction>()
/** An iterator keeps every table that the map has outgrown since its last use, with all old values. So an unused one is dropped. */
const UNUSED_MAX = 1_000

/**
 * Sets a key as the newest entry of a bounded map. Beyond `max` the oldest entry is evicted; a caller that needs it again looks it up
 * again.
 */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) evictOldest(map)
  else dropUnused(map)
}

// A new iterator would have to pass the places of all entries evicted since the map was last rebuilt: thousands in a large map.
function evictOldest(map: Map<unknown, unknown>): void {
  let eviction = evictions.get(map)
  let next = eviction?.keys.next()
  if (eviction === undefined || next === undefined || next.done === true) {
    eviction = { keys: map.keys(), unused: 0 }
    evictions.set(map, eviction)
    next = eviction.keys.next()
  }
  eviction.unused = 0
  map.delete(next.value)
}

function dropUnused(map: object): void {
  const eviction = evictions.get(map)
  if (eviction !== undefined && ++eviction.unused >= UNUSED_MAX) evictions.delete(map)
}
