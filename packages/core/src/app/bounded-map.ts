/** The oldest keys of a full map, from where the last eviction stopped. */
const oldestKeys = new WeakMap<object, Iterator<unknown>>()

/**
 * Sets a key as the newest entry of a bounded map. Beyond `max` the oldest entry is evicted; a caller that needs it again looks it up
 * again.
 */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) evictOldest(map)
}

// A new iterator would have to pass the places of all entries evicted since the map was last rebuilt: thousands in a large map.
function evictOldest(map: Map<unknown, unknown>): void {
  let next = oldestKeys.get(map)?.next()
  if (next === undefined || next.done === true) {
    const keys = map.keys()
    oldestKeys.set(map, keys)
    next = keys.next()
  }
  map.delete(next.value)
}
