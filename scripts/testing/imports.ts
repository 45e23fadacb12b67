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

/** A file of the checkout, as the rules for tests see it. */
export interface SourceFile {
  readonly text: string
  readonly imports: readonly Import[]
}

/** The sources below `root`: each is read once, because hundreds of test files reach the same ones. */
export class SourceFiles {
  readonly #root: string
  readonly #read = new Map<string, SourceFile | null>()
  readonly #targets = new Map<SourceFile, readonly string[]>()

  constructor(root: string) {
    this.#root = root
  }

  /** `start` and every file that it reaches by imports. Omits files that do not exist. Paths are relative to the checkout. */
  reachable(start: string): ReadonlyMap<string, SourceFile> {
    const found = new Map<string, SourceFile>()
    const queue = [start]
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      const file = found.has(path) ? null : this.#file(path)
      if (file === null) continue
      found.set(path, file)
      queue.push(...this.#targetsOf(path, file))
    }
    return found
  }

  #file(path: string): SourceFile | null {
    let file = this.#read.get(path)
    if (file === undefined) {
      const full = join(this.#root, path)
      const text = existsSync(full) ? readFileSync(full, 'utf8') : null
      file = text === null ? null : { text, imports: importsIn(text) }
      this.#read.set(path, file)
    }
    return file
  }

  #targetsOf(path: string, file: SourceFile): readonly string[] {
    let targets = this.#targets.get(file)
    if (targets === undefined) {
      targets = file.imports.map(({ specifier }) => resolveImport(path, specifier)).filter(target => target !== null)
      this.#targets.set(file, targets)
    }
    return targets
  }
}

function slashes(path: string): string {
  return path.replaceAll('\\', '/')
}
