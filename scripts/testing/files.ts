// The test files of the repository, and the group of each.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type SourceFile, SourceFiles } from './imports.ts'
import { mayShare } from './sharing.ts'

export const GROUPS = ['repo', 'unit', 'acceptance', 'browser', 'slow'] as const
export type Group = (typeof GROUPS)[number]

/** What a test file needs before it can run. */
export type Service = 'postgres' | 'chromium' | 'nats'

export interface TestFile {
  /** Relative to the checkout, with `/`. */
  readonly path: string
  readonly group: Group
  readonly needs: ReadonlySet<Service>
  /** It mostly waits for real time: it runs beside the others, in a separate worker. */
  readonly waits: boolean
  /** Part of it is a long search, of which a run does a share; see testkit/search. */
  readonly searches: boolean
  /** It may run in one process with others; see sharing.ts. */
  readonly shares: boolean
  /** `npm run check` runs it: it shares, starts no server, and does not search. */
  readonly quick: boolean
}

const IGNORED = new Set(['node_modules', '.git', '.data', '.cache', '.build', 'coverage', 'test-results'])
const GROUP_BY_PATH: readonly (readonly [RegExp, Group])[] = [
  [/\.slow\.test\.ts$/, 'slow'],
  [/^test\/repo\//, 'repo'],
  [/^test\/acceptance\//, 'acceptance'],
  [/^test\/browser\//, 'browser'],
  [/^(packages\/[^/]+\/test|bench|scripts|test\/cluster-check)\//, 'unit']
]
const WAITING = /\.waiting(\.slow)?\.test\.ts$/
/** Servers, and properties over hundreds of values: the most expensive unit tests, left to `npm test`. */
const COSTLY_MODULES = ['fastify', 'fast-check']
const NEEDED_BY_GROUP: Readonly<Record<Group, readonly Service[]>> = {
  repo: [],
  unit: [],
  acceptance: ['postgres'],
  browser: ['postgres', 'chromium'],
  slow: ['postgres']
}
const MENTIONS: readonly (readonly [RegExp, Service])[] = [
  [/TRUNKLINE_TEST_DATABASE_URL/, 'postgres'],
  [/TRUNKLINE_TEST_CHROMIUM/, 'chromium'],
  [/TRUNKLINE_TEST_NATS_SERVER/, 'nats']
]

/** Every file of the repository below `folder` of the checkout, sorted; paths relative to the checkout. */
export function filesBelow(root: string, folder = ''): readonly string[] {
  const found: string[] = []
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (IGNORED.has(entry.name)) continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) found.push(...filesBelow(root, path))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}

/** Throws if a test file is outside every group's folders: it would never run. */
export function groupOf(path: string): Group {
  const group = GROUP_BY_PATH.find(([pattern]) => pattern.test(path))?.[1]
  if (group === undefined) throw new Error(`${path} belongs to no group of tests. Move it under packages/<name>/test or test/<group>.`)
  return group
}

/** All test files, by group and path. */
export function testFiles(root: string): readonly TestFile[] {
  const sources = new SourceFiles(root)
  return filesBelow(root)
    .filter(path => path.endsWith('.test.ts'))
    .map(path => describe(sources, path))
}

function describe(sources: SourceFiles, path: string): TestFile {
  const reached = sources.reachable(path)
  const modules = new Set(
    [...reached.values()].flatMap(({ imports }) => imports.filter(({ isValue }) => isValue)).map(({ specifier }) => specifier)
  )
  const [group, needs, waits] = [groupOf(path), needsOf(path, reached, modules), WAITING.test(path)]
  const searches = [...reached.keys()].some(file => file.endsWith('testkit/src/search.ts'))
  // A whole search takes minutes, which would count against the limit of its neighbours.
  const shares = group === 'unit' && !waits && !searches && needs.size === 0 && mayShare(sources, path)
  const quick = group === 'repo' || (shares && !COSTLY_MODULES.some(name => modules.has(name)))
  return { path, group, needs, waits, searches, shares, quick }
}

// A test's needs follow from its imports, however deep, so no list has to be maintained.
function needsOf(path: string, reached: ReadonlyMap<string, SourceFile>, modules: ReadonlySet<string>): ReadonlySet<Service> {
  const needs = new Set(NEEDED_BY_GROUP[groupOf(path)])
  for (const [file, { text }] of reached) {
    if (file.startsWith('scripts/')) continue // this file itself names the variables
    for (const [mention, service] of MENTIONS) if (mention.test(text)) needs.add(service)
  }
  if (modules.has('playwright-core')) needs.add('chromium')
  return needs
}
