// The command line of `npm test` and `npm run check`.
import { parseArgs } from 'node:util'
import { GROUPS, type Group, type TestFile } from './files.ts'

export interface Options {
  /** `npm run check`: no test that needs a service, and nothing slow. */
  readonly isQuick: boolean
  /** Only these groups; empty: all. */
  readonly groups: readonly Group[]
  /** Only files whose path contains one of these; empty: all. */
  readonly filters: readonly string[]
}

export const USAGE = `npm test                              every check and every test
npm test -- --group ${GROUPS.join('|')}   one group; may be repeated
npm test -- decimal core/test/app     only files whose path contains one of these
npm run check                         what needs no database, browser or network`

/** Throws with a sentence for the user when the arguments make no sense. */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { quick: { type: 'boolean', default: false }, group: { type: 'string', multiple: true, default: [] } }
  })
  return { isQuick: values.quick, groups: values.group.map(parseGroup), filters: positionals.map(filter => filter.replace(/^\.\//, '')) }
}

function parseGroup(text: string): Group {
  const group = GROUPS.find(name => name === text)
  if (group === undefined) throw new Error(`There is no group "${text}". The groups are ${GROUPS.join(', ')}.`)
  return group
}

/** The files that these options ask for. */
export function select(files: readonly TestFile[], { isQuick, groups, filters }: Options): readonly TestFile[] {
  return files.filter(
    ({ path, group, needs }) =>
      (groups.length === 0 || groups.includes(group)) &&
      (filters.length === 0 || filters.some(filter => path.includes(filter))) &&
      !(isQuick && (needs.size > 0 || group === 'slow'))
  )
}
