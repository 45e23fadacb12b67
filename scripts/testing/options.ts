// The command lines of `npm test`, `npm run check` and `npm run steady`.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { GROUPS, type Group, type TestFile } from './files.ts'

interface Selection {
  /** Only these groups; empty: all. */
  readonly groups: readonly Group[]
  /** Only files whose path contains one of these; empty: all. */
  readonly filters: readonly string[]
}

export interface Options extends Selection {
  /** `npm run check`: the repository rules, and the quick unit tests (files.ts). */
  readonly isQuick: boolean
  /** `npm run search`: only files with long searches, and all of these. */
  readonly isSearch: boolean
}

export interface SteadyOptions extends Selection {
  readonly rounds: number
  /** Files that run at the same time. */
  readonly workers: number
  /** Busy threads that run beside the tests. */
  readonly hogs: number
  /** Determines the order of the files. */
  readonly seed: number
}

export const USAGE = `npm test                              every check and every test
npm test -- --group ${GROUPS.join('|')}   one group; may be repeated
npm test -- decimal core/test/app     only files whose path contains one of these
npm run search                        the long searches in full; npm test runs a share of them
npm run check                         format, lint, types, repository rules, and unit tests that are pure and quick`

export const STEADY_USAGE = `npm run steady                             runs every test file three times under load and lists what did not pass every time
npm run steady -- --rounds 10 stream kit   ten times, only files whose path contains one of these
  --group ${GROUPS.join('|')}   only one group; may be repeated
  --workers 4                                files that run at the same time; default: twice the number of processors
  --hogs 2                                 busy threads beside them; default: the number of processors
  --seed 1                                 determines the order of the files
The exit code is 1 if something did not pass every time.`

const SELECTION = { group: { type: 'string', multiple: true }, help: { type: 'boolean', short: 'h', default: false } } as const
const ROUNDS = 3
const COUNT_MAX = 1_000

/** The usage was requested. */
class HelpWanted extends Error {}

/** This program's arguments, parsed. Null if they are invalid or ask for help: the usage is then printed and the exit code is set. */
export function optionsOrUsage<T>(parse: (args: readonly string[]) => T, usage: string): T | null {
  try {
    return parse(process.argv.slice(2))
  } catch (error) {
    if (error instanceof HelpWanted) process.stdout.write(`${usage}\n`)
    else {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`)
      process.exitCode = 2
    }
    return null
  }
}

/** @throws Error with a message for the user if the arguments are invalid. */
export function parseOptions(args: readonly string[]): Options {
  const options = { ...SELECTION, quick: { type: 'boolean', default: false }, search: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  return { ...selection(values, positionals), isQuick: values.quick, isSearch: values.search }
}

/** @throws Error with a message for the user if the arguments are invalid. */
export function parseSteadyOptions(args: readonly string[]): SteadyOptions {
  const cores = availableParallelism()
  const text = { type: 'string' } as const
  const options = { ...SELECTION, rounds: text, workers: text, hogs: text, seed: text } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  return {
    ...selection(values, positionals),
    rounds: count('rounds', values.rounds, ROUNDS, 1),
    workers: count('workers', values.workers, 2 * cores, 1),
    hogs: count('hogs', values.hogs, cores, 0),
    seed: count('seed', values.seed, 1, 1)
  }
}

function selection(values: { readonly group?: readonly string[]; readonly help: boolean }, positionals: readonly string[]): Selection {
  if (values.help) throw new HelpWanted()
  return { groups: (values.group ?? []).map(parseGroup), filters: positionals.map(filter => filter.replace(/^\.\//, '')) }
}

function parseGroup(text: string): Group {
  const group = GROUPS.find(name => name === text)
  if (group === undefined) throw new Error(`There is no group "${text}". The groups are ${GROUPS.join(', ')}.`)
  return group
}

function count(name: string, text: string | undefined, otherwise: number, least: number): number {
  if (text === undefined) return otherwise
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= COUNT_MAX))
    throw new Error(`--${name} must be a whole number from ${least} to ${COUNT_MAX}, was ${text}.`)
  return value
}

/** The files that these options select. */
export function select(
  files: readonly TestFile[],
  { isQuick = false, isSearch = false, groups, filters }: Selection & Partial<Options>
): readonly TestFile[] {
  return files.filter(
    ({ path, group, searches, quick }) =>
      (groups.length === 0 || groups.includes(group)) &&
      (filters.length === 0 || filters.some(filter => path.includes(filter))) &&
      (!isQuick || quick) &&
      (!isSearch || searches)
  )
}
