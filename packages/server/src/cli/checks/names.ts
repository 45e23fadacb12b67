import { ALL_SETTINGS } from '../../config/settings.ts'
import type { Finding } from './finding.ts'

const PREFIX = 'TRUNKLINE_'
/** Read by the test runner, not by the service. */
const NOT_OURS = 'TRUNKLINE_TEST_'
const DISTANCE_MAX = 3

/** Variables that look like settings and are none: most are mistyped. */
export function unknownNames(env: Readonly<Record<string, string | undefined>>): readonly Finding[] {
  const known: readonly string[] = Object.values(ALL_SETTINGS).map(setting => setting.env)
  return Object.keys(env)
    .filter(name => name.startsWith(PREFIX) && !name.startsWith(NOT_OURS) && !known.includes(name))
    .sort()
    .map(name => {
      const meant = closest(name, known)
      return { level: 'warning', about: name, message: `is no setting and has no effect${meant === null ? '' : `; is ${meant} meant?`}` }
    })
}

function closest(name: string, known: readonly string[]): string | null {
  const [best] = known.map(other => ({ other, far: distance(name, other) })).sort((a, b) => a.far - b.far)
  return best !== undefined && best.far <= DISTANCE_MAX ? best.other : null
}

/** Letters to change, add or leave out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
