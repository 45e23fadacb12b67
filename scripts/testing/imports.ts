// The files that a source file refers to, read from its text: for the layer rules and for the needs of tests.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface Import {
  readonly specifier: string
  /** False for `import type` and the like, which do not exist at run time. */
  readonly isValue: boolean
}

const CLAUSE = String.raw`(?:[\w$]+|\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})`
const STATIC = new RegExp(String.raw`^(?:import|export)\s+(type\s+)?(${CLAUSE}(?:\s*,\s*${CLAUSE})?)\s+from\s+'([^']+)'`, 'gm')
const BARE = /^import\s+'([^']+)'/gm
const DYNAMIC = /(typeof\s+)?\bimport\(\s*'([^']+)'/g
const BY_URL = /new URL\(\s*'(\.[^']+\.ts)'\s*,\s*import\.meta\.url/g

/** The imports, re-exports and worker files named in a formatted TypeScript text. */
export function importsIn(text: string): readonly Import[] {
  const found: Import[] = []
  for (const [, typeOnly, clause = '', specifier = ''] of text.matchAll(STATIC)) {
    found.push({ specifier, isValue: typeOnly === undefined && !namesOnlyTypes(clause) })
  }
  for (const [, specifier = ''] of text.matchAll(BARE)) found.push({ specifier, isValue: true })
  for (const [, typeOf, specifier = ''] of text.matchAll(DYNAMIC)) found.push({ specifier, isValue: typeOf === undefined })
  for (const [, specifier = ''] of text.matchAll(BY_URL)) found.push({ specifier, isValue: false })
  return found
}

function namesOnlyTypes(clause: string): boolean {
  if (!clause.startsWith('{')) return false
  const names = clause
    .slice(1, -1)
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
  return names.length > 0 && names.every(name => name.startsWith('type '))
}

/**
 * The file of this repository that `specifier` in `from` refers to; null for a package or a part of Node. Paths are relative to the
 * checkout.
 */
export function resolveImport(from: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return slashes(normalize(join(dirname(from), specifier)))
  const own = /^@trunkline\/([^/]+)\/(.+)$/.exec(specifier)
  return own === null ? null : `packages/${own[1]}/src/${own[2]}.ts`
}

/** `start` and every file of this repository that it reaches by imports, with their texts. Omits files that do not exist. */
export function reachable(root: string, start: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const queue = [start]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (texts.has(file) || !existsSync(join(root, file))) continue
    const text = readFileSync(join(root, file), 'utf8')
    texts.set(file, text)
    for (const { specifier } of importsIn(text)) {
      const target = resolveImport(file, specifier)
      if (target !== null) queue.push(target)
    }
  }
  return texts
}

function slashes(path: string): string {
  return path.replaceAll('\\', '/')
}
