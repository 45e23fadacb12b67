/** Sets a key as the newest of a bounded map. Beyond `max` the one set longest ago goes: whoever needs it again finds it out again. */
export function setBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
