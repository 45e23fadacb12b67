/**
 * Sets a key as the newest entry of a bounded map. Beyond `max` the oldest entry is evicted; a caller that needs it again looks it up
 * again.
 */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
