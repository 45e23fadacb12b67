// Where modules of installed packages lie: found once by `scripts/testing/learn.ts`, kept in `.cache`, read by every program that a test starts.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The checkout, with a slash at its end. */
export const ROOT_URL: string = new URL('../../../../', import.meta.url).href
const ROOT = fileURLToPath(ROOT_URL)
const FILE = join(ROOT, '.cache', 'resolutions.json')
const MANIFEST = 'package.json'
/** What decides where a package is found: what is installed, and what its users may import of it. */
const DECIDES = [join('node_modules', '.package-lock.json'), MANIFEST]

/** What a module resolves to: its address, relative to the checkout, and its format; `null` when only its text tells. */
export type Resolution = readonly [url: string, format: string | null]

/** By who imports and how (see `askerOf`), then by what is imported. */
export type Resolutions = ReadonlyMap<string, ReadonlyMap<string, Resolution>>

interface Kept {
  readonly basis: string
  readonly modules: Readonly<Record<string, Readonly<Record<string, Resolution>>>>
}

/** Part of the checkout outside `node_modules`: a package of ours, or its root. */
const OWN = /^(?:packages\/[^/]+\/)?/

/**
 * Who imports, as far as it matters: a file of a package, or any file of a part of the checkout; `require` may find another file than `import`.
 * `null`: a file elsewhere, of which nothing is known.
 */
export function askerOf(parentUrl: string, isRequire: boolean): string | null {
  if (!parentUrl.startsWith(ROOT_URL)) return null
  const path = parentUrl.slice(ROOT_URL.length)
  return `${isRequire ? 'require' : 'import'} ${path.includes('node_modules/') ? path : OWN.exec(path)?.[0]}`
}

/** What is known of the packages that are installed now; `null` when that was never learned, or something else was installed then. */
export function readResolutions(): Resolutions | null {
  try {
    const { basis, modules }: Kept = JSON.parse(readFileSync(FILE, 'utf8'))
    if (basis !== basisNow()) return null
    return new Map(Object.entries(modules).map(([asker, found]) => [asker, new Map(Object.entries(found))]))
  } catch {
    return null // absent, or cut short
  }
}

export function writeResolutions(found: Resolutions): void {
  const modules = Object.fromEntries([...found].map(([asker, resolutions]) => [asker, Object.fromEntries(resolutions)]))
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const place = `${FILE}.${process.pid}`
  writeFileSync(place, JSON.stringify({ basis: basisNow(), modules } satisfies Kept))
  renameSync(place, FILE)
}

/** Changes with every installation. */
function basisNow(): string {
  const marks = DECIDES.map(file => statSync(join(ROOT, file))).map(({ size, mtimeMs }) => `${size} ${mtimeMs}`)
  return [process.version, ...marks, pathToFileURL(ROOT).href].join(', ')
}
