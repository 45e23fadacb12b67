import { SETTING_NAMES } from '@trunkline/sandbox/config'
import { ALL_SETTINGS } from './settings.ts'

/** Read by the test runner, not by the service. */
const NOT_OURS = 'TRUNKLINE_TEST_'
const DISTANCE_MAX = 3

/** An unknown variable that looks like a setting, and the nearest setting; null if none is near. */
export interface UnknownName {
  readonly name: string
  readonly meant: string | null
}

/** Names with our prefix: most are typing errors. Of the sandbox's prefix only those near a setting, because others use it too. */
export function unknownNames(env: Readonly<Record<string, string | undefined>>): readonly UnknownName[] {
  const own: readonly string[] = Object.values(ALL_SETTINGS).map(setting => setting.env)
  const unknown = (prefix: string, known: readonly string[]) =>
    Object.keys(env)
      .filter(name => name.startsWith(prefix) && !name.startsWith(NOT_OURS) && !known.includes(name))
      .sort()
      .map(name => ({ name, meant: closest(name, known) }))
  return [...unknown('TRUNKLINE_', own), ...unknown('SANDBOX_', SETTING_NAMES).filter(({ meant }) => meant !== null)]
}

/** The message about it. */
export function messageAbout({ meant }: UnknownName): string {
  return `is no setting and has no effect${meant === null ? '' : `; is ${meant} meant?`}`
}

function closest(name: string, known: readonly string[]): string | null {
  const [best] = known.map(other => ({ other, far: distance(name, other) })).sort((a, b) => a.far - b.far)
  return best !== undefined && best.far <= DISTANCE_MAX ? best.other : null
}

/** The number of letters to change, add or leave out. */
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
