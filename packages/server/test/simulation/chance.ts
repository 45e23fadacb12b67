// The choices of a simulated day.
import { SeededChance } from '@trunkline/testkit/chance'

export class Chance extends SeededChance {
  /** Chance of its own for one part, so that what one part asks for does not change what another is given. */
  apart(name: string): Chance {
    let hash = 0x811c9dc5 ^ this.state
    // FNV-1a
    for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
    return new Chance(hash)
  }

  /** One of the keys, by weight. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries<number>(weights)
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      left -= weight
      if (left < 0 && isKey(weights, key)) return key
    }
    throw new Error('nothing has any weight')
  }
}

function isKey<Key extends string>(weights: Readonly<Record<Key, number>>, key: string): key is Key {
  return key in weights
}
